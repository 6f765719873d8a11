// right: few long rows: the whole grid works on each row, in a cooperative launch with one grid barrier a row (the blocks' sums in two places in turn); many rows: a block a row.
#include <cooperative_groups.h>
#include <cstdint>

namespace cg = cooperative_groups;
constexpr int THREADS = 256, EACH = 4;

__device__ float block_sum(float x)
{
    __shared__ float s[THREADS / 32];
    for (int k = 16; k; k >>= 1)
        x += __shfl_xor_sync(~0u, x, k);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        s[threadIdx.x / 32] = x;
    __syncthreads();
    x = 0.0f;
    for (int k = 0; k < THREADS / 32; k++)
        x += s[k];
    return x;
}

__device__ float add(float *x, float *residual, int64_t row, int64_t first, int64_t step, int d)
{
    float sum = 0.0f;
    for (int64_t i = first; i < d; i += step) {
        float v = x[row + i] + residual[row + i];
        residual[row + i] = v;
        sum += v * v;
    }
    return sum;
}

__device__ void norm(float *x, const float *residual, const float *weight, float root, int64_t row, int64_t first, int64_t step, int d)
{
    for (int64_t i = first; i < d; i += step)
        x[row + i] = residual[row + i] / root * weight[i];
}

__global__ void __launch_bounds__(THREADS) grid_kernel(float *x, float *residual, const float *weight, float *part, int rows, int d, float eps)
{
    cg::grid_group grid = cg::this_grid();
    const int64_t first = (int64_t)blockIdx.x * THREADS + threadIdx.x, step = (int64_t)gridDim.x * THREADS;
    for (int r = 0; r < rows; r++) {
        const int64_t row = (int64_t)r * d;
        float *mine = part + (r & 1) * gridDim.x;
        float sum = block_sum(add(x, residual, row, first, step, d));
        if (threadIdx.x == 0)
            mine[blockIdx.x] = sum;
        grid.sync();
        sum = 0.0f;
        for (unsigned b = threadIdx.x; b < gridDim.x; b += THREADS)
            sum += __ldcg(&mine[b]);
        sum = block_sum(sum);
        norm(x, residual, weight, sqrtf(sum / d + eps), row, first, step, d);
    }
}

__global__ void __launch_bounds__(THREADS) row_kernel(float *x, float *residual, const float *weight, int d, float eps)
{
    const int64_t row = (int64_t)blockIdx.x * d;
    float sum = block_sum(add(x, residual, row, threadIdx.x, THREADS, d));
    norm(x, residual, weight, sqrtf(sum / d + eps), row, threadIdx.x, THREADS, d);
}

extern "C" void fused_add_rmsnorm(float *x, float *residual, const float *weight, int rows, int d, float eps,
                                  cudaStream_t stream)
{
    if (rows >= 64 || d <= THREADS * EACH) {
        row_kernel<<<rows, THREADS, 0, stream>>>(x, residual, weight, d, eps);
        return;
    }
    int device = 0, processors = 1, resident = 1;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, grid_kernel, THREADS, 0);
    int most = resident * processors, wanted = (d + THREADS * EACH - 1) / (THREADS * EACH);
    int blocks = wanted < most ? wanted : most;
    float *part;
    cudaMallocAsync((void **)&part, 2 * (size_t)blocks * sizeof(float), stream);
    void *args[] = {&x, &residual, &weight, &part, &rows, &d, &eps};
    cudaLaunchCooperativeKernel((void *)grid_kernel, dim3(blocks), dim3(THREADS), args, 0, stream);
    cudaFreeAsync(part, stream);
}
