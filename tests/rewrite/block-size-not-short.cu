// A shared array of another length has no slot for more threads.
// transform: block-size 512
// leaves
#include <cstdint>

__global__ void work(float *out, const float *in, int n, int d)
{
    __shared__ float slot[256];
    slot[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[blockIdx.x] = slot[blockDim.x - 1];
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<n, 128, 0, stream>>>(out, in, n, d);
}
