// Rows and pieces of rows; x and y change places, and the launcher asks whether the grid is large enough.
// transform: drop-grid-stride 1
// applies: line 13
// has: const int row = blockIdx.y;
// has: const int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
// has: if (i < d)
// has: (int64_t)grid.y * 128 * 4 >= d
// has: (int64_t)grid.x >= n
// has: grid.x <= 65535
#include <cstdint>
__global__ void work(float *out, const float *in, int n, int d)
{
    for (int row = blockIdx.x; row < n; row += gridDim.x)
        for (int i = (blockIdx.y * blockDim.x + threadIdx.x) * 4; i < d; i += gridDim.y * blockDim.x * 4)
            out[row * d + i] = 2.0f * in[row * d + i];
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    dim3 grid(n < 1000 ? n : 1000, (d + 511) / 512);
    work<<<grid, 128, 0, stream>>>(out, in, n, d);
}
