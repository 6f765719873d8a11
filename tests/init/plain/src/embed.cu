// Rows and columns taken by number; a chain of two launches.
#include <cuda_runtime.h>

#include "common.h"

__global__ void embed_kernel(float *out, const int *ids, const float *table, int C)
{
    for (int c = threadIdx.x; c < C; c += blockDim.x)
        out[blockIdx.x * C + c] = table[ids[blockIdx.x] * C + c];
}

__global__ void pick_kernel(float *out, const float *rows, const int *which, int N, int V)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        out[i] = rows[i * V + which[i]];
}

__global__ void negate_kernel(float *x, int N)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        x[i] = -x[i];
}

void embed(float *out, const int *ids, const float *table, int N, int C)
{
    embed_kernel<<<N, 64>>>(out, ids, table, C);
}

void losses(float *out, const float *rows, const int *which, int B, int T, int V)
{
    const int N = B * T;
    const int blocks = (N + 127) / 128;
    pick_kernel<<<blocks, 128>>>(out, rows, which, N, V);
    negate_kernel<<<blocks, 128>>>(out, N);
}
