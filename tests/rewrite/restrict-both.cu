// Two pointers, one only read.
// transform: restrict 0
// applies: line 8
// has: float *__restrict__ out, const float *__restrict__ in
// lacks: const float *__restrict__ out
#include <cstdint>

__global__ void work(float *out, float *in, int n, int d)
{
    for (int row = blockIdx.x; row < n; row += gridDim.x)
        for (int i = threadIdx.x; i < d; i += blockDim.x)
            out[row * d + i] = 2.0f * in[row * d + i];
}

extern "C" void entry(float *out, float *in, int n, int d, cudaStream_t stream)
{
    work<<<n, 128, 0, stream>>>(out, in, n, d);
}
