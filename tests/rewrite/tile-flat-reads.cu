// The other side is in order: neighbouring threads write neighbours and read far apart.
// transform: tile 16
// applies: line 18
// has: const int r = blockIdx.y * 32 + threadIdx.x;
// has: const int c = blockIdx.x * 32 + threadIdx.y + k;
// has: tile[threadIdx.y + k][threadIdx.x] = in[c * rows + r];
// has: out[i] = tile[threadIdx.x][threadIdx.y + k];
// has: dim3 block(32, 16);
#include <cuda_runtime.h>

__global__ void turn(float *out, const float *in, const int rows, const int cols)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int n = cols * rows;
    const int r = i / cols, c = i % cols;
    if (i >= n)
        return;
    out[i] = in[c * rows + r];
}

extern "C" void entry(float *out, const float *in, int m, int n, cudaStream_t stream)
{
    dim3 block(256);
    turn<<<(m * n + 255) / 256, block, 0, stream>>>(out, in, m, n);
}
