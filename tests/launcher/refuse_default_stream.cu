__global__ void k(float *p)
{
}

extern "C" void go(float *p, int n, cudaStream_t stream)
{
    if (n)
        cudaMemsetAsync(p, 0, 4);
    k<<<1, 32, 0, nullptr>>>(p);
}

// run: n=0
// error 9:5 on the default stream
// run: n=1
// error 8:9 cudaMemsetAsync without the launcher's stream
