// Four times as many.
// transform: uncap-grid 4
// applies: line 16
// has: n > 512 ? 512 : n
#include <cstdint>

__global__ void work(float *out, const float *in, int n, int d)
{
    for (int row = blockIdx.x; row < n; row += gridDim.x)
        for (int i = threadIdx.x; i < d; i += blockDim.x)
            out[row * d + i] = 2.0f * in[row * d + i];
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    int blocks = n > 128 ? 128 : n;
    work<<<blocks, 128, 0, stream>>>(out, in, n, d);
}
