// Threads meet in the loop.
// transform: vectorise -1
// leaves
#include <cstdint>

__global__ void work(float *out, const float *in, int n, int d)
{
    __shared__ float shared[128];
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        shared[threadIdx.x] = in[i];
        __syncthreads();
        out[i] = shared[127 - threadIdx.x];
        __syncthreads();
    }
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<n, 128, 0, stream>>>(out, in, n, d);
}
