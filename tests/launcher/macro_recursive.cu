// A macro that names itself is expanded once.
#define n (n + 1)
#define f(x) g(x)
#define g(x) f(x) + 1

__global__ void k(int a)
{
}

extern "C" void go(float *p, cudaStream_t stream)
{
    int f = 3;
    k<<<1, 1, 0, stream>>>(f);
}

// run:
// launch k (1,1,1) (1,1,1) 0 [3:i32]
