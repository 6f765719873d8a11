// Shifts beyond the width are undefined.
__global__ void k(int n)
{
}

extern "C" void go(float *p, int n, cudaStream_t stream)
{
    k<<<1u << 10, 32, 0, stream>>>(1 << n);
}

// run: n=30
// launch k (1024,1,1) (32,1,1) 0 [1073741824:i32]
// run: n=32
// error 8:38 a shift of int by 32
