__global__ void k(float *p)
{
}

extern "C" void go(float *p, cudaStream_t stream)
{
    k<<<1, 32>>>(p);
}

// run:
// error 7:5 this launch is not on the launcher's stream
