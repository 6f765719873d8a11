// A constant of the file changes where it is defined.
// transform: block-size 64
// applies: line 8
// has: #define THREADS 64
// has: work<<<n, THREADS, 0, stream>>>
#include <cstdint>

#define THREADS 128

__global__ void work(float *out, const float *in, int n, int d)
{
    __shared__ float slot[THREADS];
    slot[threadIdx.x] = 0;
    for (int i = threadIdx.x; i < d; i += THREADS)
        slot[threadIdx.x] += in[i];
    __syncthreads();
    out[blockIdx.x] = slot[THREADS - 1 - threadIdx.x];
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<n, THREADS, 0, stream>>>(out, in, n, d);
}
