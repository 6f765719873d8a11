// No loop at all: only the order of the blocks changes.
// transform: drop-grid-stride 1
// applies: line 9
// has: int row = blockIdx.x, i = blockIdx.y * blockDim.x + threadIdx.x;
// has: work_swapped<<<dim3(d / 64, n), 64, 0, stream>>>
// has: if (n <= 65535)
#include <cstdint>

__global__ void work(float *out, const float *in, int n, int d)
{
    int row = blockIdx.y, i = blockIdx.x * blockDim.x + threadIdx.x;
    out[row * d + i] = 2.0f * in[row * d + i];
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<dim3(n, d / 64), 64, 0, stream>>>(out, in, n, d);
}
