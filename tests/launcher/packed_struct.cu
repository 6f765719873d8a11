// #pragma pack changes where members lie.
#pragma pack(push, 1)
struct Tight {
    char a;
    int b;
};
#pragma pack(pop)
struct Loose {
    char a;
    int b;
};
__global__ void k(Tight t, Loose l)
{
}

extern "C" void go(int n, cudaStream_t stream)
{
    Tight t = {1, n};
    Loose l = {1, n};
    k<<<1, 32, 0, stream>>>(t, l);
}

// run: n=3
// launch k (1,1,1) (32,1,1) 0 [{5 @0=1:i8 @1=3:i32}, {8 @0=1:i8 @4=3:i32}]
