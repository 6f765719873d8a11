__global__ void k(int n)
{
}

extern "C" void go(float *p, int n, cudaStream_t stream)
{
    while (n)
        n |= 1;
    k<<<1, 1, 0, stream>>>(n);
}

// run: n=0
// launch k (1,1,1) (1,1,1) 0 [0:i32]
// run: n=1
// error 8:9 the launcher takes more than 500000 steps
