// expect: launch-failed words at once
// row 12: A cooperative launch of as many blocks as there are rows; a device does not hold them all.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void kernel(float *x, float *residual, const float *weight, float *scales, int rows, int d, float eps)
{
    cg::grid_group grid = cg::this_grid();
    __shared__ float s[8];
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        float sum = 0;
        for (int i = threadIdx.x; i < d; i += blockDim.x) {
            size_t k = (size_t)row * d + i;
            float v = residual[k] + x[k];
            residual[k] = v;
            sum += v * v;
        }
        for (int o = 16; o; o >>= 1)
            sum += __shfl_xor_sync(0xffffffff, sum, o);
        __syncthreads();
        if (threadIdx.x % 32 == 0)
            s[threadIdx.x / 32] = sum;
        __syncthreads();
        if (threadIdx.x == 0) {
            for (int w = 1; w < 8; w++)
                sum += s[w];
            scales[row] = rsqrtf(sum / d + eps);
        }
    }
    grid.sync();
    for (size_t k = grid.thread_rank(); k < (size_t)rows * d; k += grid.size())
        x[k] = residual[k] * scales[k / d] * weight[k % d];
}

extern "C" void fused_add_rmsnorm(float *x, float *residual, const float *weight, int rows, int d, float eps,
                                  cudaStream_t stream)
{
    float *scales;
    cudaMallocAsync(&scales, rows * sizeof(float), stream);
    void *args[] = {&x, &residual, &weight, &scales, &rows, &d, &eps};
    cudaLaunchCooperativeKernel((void *)kernel, dim3(rows), dim3(256), args, 0, stream);
    cudaFreeAsync(scales, stream);
}
