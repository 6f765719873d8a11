__global__ void k(int n)
{
}

extern "C" int go(float *p, int n, cudaStream_t stream)
{
    if (n < 0)
        return -1;
    k<<<1, 1, 0, stream>>>(n);
    return 0;
}

// run: n=4
// launch k (1,1,1) (1,1,1) 0 [4:i32]
// run: n=-4
// error 5:16 go returns the error -1 for these arguments
