// Right: two kernels. The first adds, and leaves one partial sum of squares for each of a row's parts in a workspace; the second adds the parts in a fixed order and scales. No atomics, nothing is read that was not written.
#include <cstdint>
__global__ void add(float *x, float *residual, float *sums, int rows, int d)
{
    __shared__ float warps[8];
    int64_t row = (int64_t)blockIdx.x * d;
    float sum = 0.0f;
    for (int64_t i = (int64_t)blockIdx.y * 256 + threadIdx.x; i < d; i += (int64_t)gridDim.y * 256) {
        float v = x[row + i] + residual[row + i];
        residual[row + i] = v;
        sum = fmaf(v, v, sum);
    }
    for (int o = 16; o; o /= 2)
        sum += __shfl_xor_sync(~0u, sum, o);
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 8; w++)
            sum += warps[w];
        sums[(int64_t)blockIdx.x * gridDim.y + blockIdx.y] = sum;
    }
}
__global__ void scale(float *x, const float *residual, const float *weight, const float *sums, int d, float eps)
{
    int64_t row = (int64_t)blockIdx.x * d;
    float sum = 0.0f;
    for (int p = 0; p < gridDim.y; p++)
        sum += sums[(int64_t)blockIdx.x * gridDim.y + p];
    float s = rsqrtf(sum / d + eps);
    for (int64_t i = (int64_t)blockIdx.y * 256 + threadIdx.x; i < d; i += (int64_t)gridDim.y * 256)
        x[row + i] = residual[row + i] * s * weight[i];
}
extern "C" void fused_add_rmsnorm(float *x, float *residual, const float *weight, int rows, int d, float eps, cudaStream_t stream)
{
    int parts = rows > 2000 ? 2 : 16;
    if (parts > (d + 255) / 256)
        parts = (d + 255) / 256;
    float *sums;
    if (cudaMallocAsync((void **)&sums, (size_t)rows * parts * sizeof(float), stream) != cudaSuccess)
        return;
    dim3 grid(rows, parts);
    add<<<grid, 256, 0, stream>>>(x, residual, sums, rows, d);
    scale<<<grid, 256, 0, stream>>>(x, residual, weight, sums, d, eps);
    cudaFreeAsync(sums, stream);
}
