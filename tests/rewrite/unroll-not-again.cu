// Says so already.
// transform: unroll -1
// leaves
#include <cstdint>

__global__ void work(float *out, const float *in, int n, int d)
{
#pragma unroll 2
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[i] = in[i];
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<n, 128, 0, stream>>>(out, in, n, d);
}
