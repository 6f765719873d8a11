// A loop in steps of the grid.
// transform: unroll 2
// applies: line 10
// has: #pragma unroll 2
#include <cstdint>

__global__ void work(float *out, const float *in, int n, int d)
{
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < d; i += stride)
        out[i] = in[i];
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<n, 128, 0, stream>>>(out, in, n, d);
}
