// With another number of threads, as nothing depends on it.
// transform: split-row 256
// applies: line 11
// has: (d + 255) / 256
// has: 256, 0, stream
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
