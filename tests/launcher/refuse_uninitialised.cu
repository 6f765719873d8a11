__global__ void k(int n)
{
}

extern "C" void go(float *p, int n, cudaStream_t stream)
{
    int blocks;
    if (n > 4)
        blocks = n;
    k<<<blocks, 32, 0, stream>>>(n);
}

// run: n=5
// launch k (5,1,1) (32,1,1) 0 [5:i32]
// run: n=4
// error 10:9 blocks is used before it has a value
