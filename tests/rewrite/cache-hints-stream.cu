// Read and written once.
// transform: cache-hints 3
// applies: line 7
// has: __stcs(&out[row * d + i], 2.0f * __ldcs(&in[row * d + i]));
#include <cstdint>

__global__ void work(float *out, const float *in, int n, int d)
{
    for (int row = blockIdx.x; row < n; row += gridDim.x)
        for (int i = threadIdx.x; i < d; i += blockDim.x)
            out[row * d + i] = 2.0f * in[row * d + i];
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<n, 128, 0, stream>>>(out, in, n, d);
}
