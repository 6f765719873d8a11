int down(int n)
{
    return n == 0 ? 0 : 1 + down(n - 1);
}
__global__ void k(int n)
{
}

extern "C" void go(float *p, int n, cudaStream_t stream)
{
    k<<<1, 1, 0, stream>>>(down(n));
}

// run: n=20
// launch k (1,1,1) (1,1,1) 0 [20:i32]
// run: n=100
// error 3:29 calls nest deeper than 32 levels
