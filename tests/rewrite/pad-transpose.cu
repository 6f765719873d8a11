// Columns of a square whose rows are as long as the banks.
// transform: pad 0
// applies: line 11
// has: __shared__ float tile[TILE][TILE + 1];
#include <cuda_runtime.h>

constexpr int TILE = 32;

__global__ void work(float *out, const float *in, int width, int height)
{
    __shared__ float tile[TILE][TILE];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += 8)
        tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += 8)
        out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

extern "C" void entry(float *out, const float *in, int width, int height, cudaStream_t stream)
{
    work<<<dim3(width / TILE, height / TILE), dim3(TILE, 8), 0, stream>>>(out, in, width, height);
}
