// As many threads as a row has work for need more dynamic shared memory than the launch asks for.
// transform: block-size 11024
// leaves
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in, int d)
{
    extern __shared__ float part[];
    float x = 0;
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        x += in[blockIdx.x * d + i];
    part[threadIdx.x] = x;
    __syncthreads();
    if (threadIdx.x == 0)
        out[blockIdx.x] = part[0] + part[1];
}

extern "C" void entry(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    int threads = 256;
    work<<<rows, threads, threads * sizeof(float), stream>>>(out, in, d);
}
