// transform: unroll 4
// applies: line 8
// has: #pragma unroll 4
#include <cstdint>

__global__ void work(float *out, const float *in, int n, int d)
{
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[i] = in[i];
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<n, 128, 0, stream>>>(out, in, n, d);
}
