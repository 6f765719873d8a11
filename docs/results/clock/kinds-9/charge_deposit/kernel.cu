#include <cuda_runtime.h>
// Particles in patches of 16 by 16 cells leave their charge at the four corners around them; a thread a particle.
__global__ void deposit(float *grid, const float *x, const float *y, const float *charge, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= n)
        return;
    long long i = (long long)blockIdx.y * n + k;
    int col = min((int)x[i], 15), row = min((int)y[i], 15);
    float right = x[i] - col, down = y[i] - row;
    float *to = grid + 289ll * blockIdx.y + 17 * row + col;
    atomicAdd(&to[0], charge[i] * (1.0f - right) * (1.0f - down));
    atomicAdd(&to[1], charge[i] * right * (1.0f - down));
    atomicAdd(&to[17], charge[i] * (1.0f - right) * down);
    atomicAdd(&to[18], charge[i] * right * down);
}
extern "C" void charge_deposit(float *grid, const float *x, const float *y, const float *charge, int patches, int n,
                               cudaStream_t stream)
{
    cudaMemsetAsync(grid, 0, 289ll * patches * sizeof(float), stream);
    deposit<<<dim3((n + 255) / 256, patches), 256, 0, stream>>>(grid, x, y, charge, n);
}
