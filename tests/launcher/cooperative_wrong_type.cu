__global__ void k(float *p, long n)
{
}

extern "C" void go(float *p, int n, cudaStream_t stream)
{
    void *args[] = {&p, &n};
    cudaLaunchCooperativeKernel((void *)k, dim3(1), dim3(1), args, 0, stream);
}

// run: n=1
// error 8:62 argument 2 in the list is the address of a int, but kernel k takes a long
