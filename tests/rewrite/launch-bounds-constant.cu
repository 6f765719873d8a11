// transform: launch-bounds 128
// applies: line 6
// has: __launch_bounds__(128)
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
