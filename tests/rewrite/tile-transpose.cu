// Reads along x and writes along y.
// transform: tile 8
// applies: line 17
// has: __shared__ float tile[32][32 + 1];
// has: const int row = blockIdx.y * 32 + threadIdx.y + k;
// has: tile[threadIdx.y + k][threadIdx.x] = 2.0f * in[(int64_t)row * d + col];
// has: out[(int64_t)col * n + row] = tile[threadIdx.x][threadIdx.y + k];
// has: dim3 block(32, 8);
// has: dim3 grid((d + 31) / 32, (n + 31) / 32);
#include <cstdint>

__global__ void work(float *out, const float *in, int n, int d)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < n && col < d)
        out[(int64_t)col * n + row] = 2.0f * in[(int64_t)row * d + col];
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    dim3 block(16, 16);
    dim3 grid((d + 15) / 16, (n + 15) / 16);
    work<<<grid, block, 0, stream>>>(out, in, n, d);
}
