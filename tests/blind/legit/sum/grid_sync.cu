// a cooperative launch: a partial sum of each block to a workspace, grid.sync(), the first block adds them in fixed order.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cstdint>
namespace cg = cooperative_groups;

__device__ float block_sum(float x)
{
    __shared__ float s[8];
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<32>(block);
    x = cg::reduce(tile, x, cg::plus<float>());
    block.sync();
    if (tile.thread_rank() == 0)
        s[tile.meta_group_rank()] = x;
    block.sync();
    x = tile.thread_rank() < 8 ? s[tile.thread_rank()] : 0.f;
    return cg::reduce(tile, x, cg::plus<float>());
}

__global__ __launch_bounds__(256) void sum_cooperative(float *out, const float *in, int64_t n, float *part)
{
    cg::grid_group grid = cg::this_grid();
    int64_t stride = (int64_t)gridDim.x * 256, tid = (int64_t)blockIdx.x * 256 + threadIdx.x;
    const float4 *v = reinterpret_cast<const float4 *>(in);
    float4 a = make_float4(0.f, 0.f, 0.f, 0.f);
    for (int64_t i = tid; i < n / 4; i += stride) {
        float4 b = v[i];
        a.x += b.x, a.y += b.y, a.z += b.z, a.w += b.w;
    }
    float x = (a.x + a.y) + (a.z + a.w);
    int64_t tail = n / 4 * 4 + tid;
    if (tail < n)
        x += in[tail];
    x = block_sum(x);
    if (threadIdx.x == 0)
        part[blockIdx.x] = x;
    grid.sync();
    if (blockIdx.x == 0) {
        x = 0.f;
        for (int i = threadIdx.x; i < (int)gridDim.x; i += 256)
            x += part[i];
        x = block_sum(x);
        if (threadIdx.x == 0)
            *out = x;
    }
}

extern "C" void sum(float *out, const float *in, int64_t n, cudaStream_t stream)
{
    int device = 0, units = 0, each = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, device);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, sum_cooperative, 256, 0);
    if (each > 4)
        each = 4;
    int64_t blocks = (n + 2047) / 2048;
    if (blocks > (int64_t)units * each)
        blocks = (int64_t)units * each;
    float *part;
    cudaMallocAsync((void **)&part, blocks * sizeof(float), stream);
    void *args[] = {&out, &in, &n, &part};
    cudaLaunchCooperativeKernel((const void *)sum_cooperative, dim3((unsigned)blocks), dim3(256), args, 0, stream);
    cudaFreeAsync(part, stream);
}
