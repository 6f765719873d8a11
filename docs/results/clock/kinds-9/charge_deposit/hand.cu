#include <cuda_runtime.h>
// A block a patch, whose corners lie in shared memory, once for each two warps.
__global__ void deposit(float *__restrict__ grid, const float *__restrict__ x, const float *__restrict__ y,
                        const float *__restrict__ charge, int n)
{
    __shared__ float own[4][289];
    for (int k = threadIdx.x; k < 4 * 289; k += 256)
        (&own[0][0])[k] = 0.0f;
    __syncthreads();
    float *mine = own[threadIdx.x / 64];
    long long at = (long long)blockIdx.x * n;
    for (int k = threadIdx.x; k < n; k += 256) {
        float u = x[at + k], v = y[at + k], q = charge[at + k];
        int col = min((int)u, 15), row = min((int)v, 15);
        float right = u - col, down = v - row, lower = q * down, upper = q - lower;
        float *to = mine + 17 * row + col;
        atomicAdd(&to[0], upper - upper * right);
        atomicAdd(&to[1], upper * right);
        atomicAdd(&to[17], lower - lower * right);
        atomicAdd(&to[18], lower * right);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < 289; k += 256)
        grid[289ll * blockIdx.x + k] = own[0][k] + own[1][k] + own[2][k] + own[3][k];
}
extern "C" void charge_deposit(float *grid, const float *x, const float *y, const float *charge, int patches, int n,
                               cudaStream_t stream)
{
    deposit<<<patches, 256, 0, stream>>>(grid, x, y, charge, n);
}
