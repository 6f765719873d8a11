// transform: tune 2
// applies: line 6
// has: #define ROWS 2 // astra: tune 1 2
#include <cstdint>

#define ROWS 1 // astra: tune 1 2

__global__ void work(float *out, const float *in, int n, int d)
{
    for (int row = blockIdx.x; row < n; row += gridDim.x)
        for (int i = threadIdx.x; i < d; i += blockDim.x)
            out[row * d + i] = 2.0f * in[row * d + i];
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<n / ROWS, 128, 0, stream>>>(out, in, n, d);
}
