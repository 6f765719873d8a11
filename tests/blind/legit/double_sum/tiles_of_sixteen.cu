// Sixteen threads a row, as a tile of cooperative groups; sums in double, from the end of the row to its front.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

__global__ void __launch_bounds__(256) double_sum_kernel(float *__restrict__ out, const float *__restrict__ in, int rows, int d)
{
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    for (int row = blockIdx.x * 16 + tile.meta_group_rank(); row < rows; row += gridDim.x * 16) {
        const float *r = in + (size_t)row * d;
        double even = 0, odd = 0;
        int i = d - 1 - (int)tile.thread_rank();
        for (; i >= 16; i -= 32)
            even += r[i], odd += r[i - 16];
        if (i >= 0)
            even += r[i];
        const double sum = cg::reduce(tile, even + odd, cg::plus<double>());
        if (tile.thread_rank() == 0)
            out[row] = (float)sum;
    }
}

extern "C" void double_sum(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(min((rows + 15) / 16, 4096));
    config.blockDim = dim3(256);
    config.stream = stream;
    cudaLaunchKernelEx(&config, double_sum_kernel, out, in, rows, d);
}
