// The loop does not go from row to row on both sides.
// transform: tile -1
// leaves
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in, int width, int height)
{
    int x = blockIdx.x * 32 + threadIdx.x;
    int y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        out[y + height * x + j] = in[x + width * y + j];
}

extern "C" void entry(float *out, const float *in, int width, int height, cudaStream_t stream)
{
    work<<<dim3(width / 32, height / 32), dim3(32, 8), 0, stream>>>(out, in, width, height);
}
