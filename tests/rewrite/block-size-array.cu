// A shared array with a slot a thread grows along.
// transform: block-size 512
// applies: line 20
// has: __shared__ float slot[512];
// has: work<<<n, 512, 0, stream>>>
#include <cstdint>

__global__ void work(float *out, const float *in, int n, int d)
{
    __shared__ float slot[128];
    slot[threadIdx.x] = 0;
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        slot[threadIdx.x] += in[i];
    __syncthreads();
    out[blockIdx.x] = slot[blockDim.x - 1];
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<n, 128, 0, stream>>>(out, in, n, d);
}
