// Whole squares without a question, a loop over their rows; grid and block stay.
// transform: tile 8
// applies: line 20
// has: __shared__ float tile[32][32 + 1];
// has: tile[threadIdx.y + k][threadIdx.x] = in[from] * 2.0f;
// has: out[to] = tile[threadIdx.x][threadIdx.y + k];
// has: work<<<grid, dim3(TILE, ROWS), 0, stream>>>
// lacks: from + j
#include <cuda_runtime.h>

constexpr int TILE = 32;
constexpr int ROWS = 8;

__global__ void work(float *out, const float *in, int width, int height)
{
    int x = blockIdx.x * 32 + threadIdx.x;
    int y = blockIdx.y * 32 + threadIdx.y;
    int from = x + width * y, to = y + height * x;
    for (int j = 0; j < 32; j += 8) {
        out[to + j] = in[from + j * width] * 2.0f;
    }
}

extern "C" void entry(float *out, const float *in, int width, int height, cudaStream_t stream)
{
    dim3 grid(width / TILE, height / TILE);
    work<<<grid, dim3(TILE, ROWS), 0, stream>>>(out, in, width, height);
}
