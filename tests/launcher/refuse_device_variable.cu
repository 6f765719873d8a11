__device__ int counter = 0;
__global__ void k(float *p)
{
}

extern "C" void go(float *p, cudaStream_t stream)
{
    k<<<1, counter, 0, stream>>>(p);
}

// run:
// error 1:16 counter lives on the device
