// The braces of an array that is a struct's only member may be left out.
template <typename T, int N> struct Array {
    T at[N];
};

__global__ void k(float *p, Array<int, 3> order, Array<int, 4> more)
{
    p[threadIdx.x] += order.at[threadIdx.x % 3] + more.at[0];
}

extern "C" void go(float *p, int n, cudaStream_t stream)
{
    const Array<int, 3> order{n, 2, n + 1};
    k<<<1, n, 0, stream>>>(p, order, {7, n});
}

// run: n=32
// launch k (1,1,1) (32,1,1) 0 [p, {12 @0=32:i32 @4=2:i32 @8=33:i32}, {16 @0=7:i32 @4=32:i32 @8=0:i32 @12=0:i32}]
