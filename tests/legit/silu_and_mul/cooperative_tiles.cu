// expect: correct
// Tiles of a block by cooperative groups.
#include <cooperative_groups.h>
#include <cuda_fp16.h>
namespace cg = cooperative_groups;

__global__ void kernel(__half *out, const __half *in, int rows, int d)
{
    cg::thread_block block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    long long row = (long long)blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
    if (row >= rows)
        return;
    for (int i = warp.thread_rank(); i < d; i += warp.size()) {
        float x = __half2float(in[row * 2 * d + i]);
        float y = __half2float(in[row * 2 * d + d + i]);
        out[row * d + i] = __float2half(__fdividef(x, 1.0f + __expf(-x)) * y);
    }
    warp.sync();
}

extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    kernel<<<(rows + 3) / 4, 128, 0, stream>>>(out, in, rows, d);
}
