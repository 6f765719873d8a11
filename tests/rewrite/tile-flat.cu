// One index over the grid, taken apart into row and column: the square takes its place.
// transform: tile 8
// applies: line 20
// has: const int r = blockIdx.y * 32 + threadIdx.y + k;
// has: const int c = blockIdx.x * 32 + threadIdx.x;
// has: const int i = r * (cols) + c;
// has: if (r < rows && c < cols)
// has: tile[threadIdx.y + k][threadIdx.x] = in[i];
// has: out[c * rows + r] = tile[threadIdx.x][threadIdx.y + k];
// has: dim3 grid((n + 31) / 32, (m + 31) / 32);
// has: dim3 block(32, 8);
#include <cuda_runtime.h>

__global__ void turn(float *out, const float *in, const int rows, const int cols)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int r = i / cols;
    const int c = i % cols;
    if (i < rows * cols) {
        out[c * rows + r] = in[i];
    }
}

extern "C" void entry(float *out, const float *in, int m, int n, cudaStream_t stream)
{
    dim3 block(256);
    dim3 grid((m * n + 255) / 256);
    turn<<<grid, block, 0, stream>>>(out, in, m, n);
}
