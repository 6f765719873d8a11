// A row for each group of 32 threads, with hints on its accesses and an address that is a sum.
// transform: vectorise 16
// applies: line 17
// has: for (int i = warp.thread_rank() * 4; i < d; i += warp.size() * 4) {
// has: const packed<float, 4> x_v = packed_load<4>(&x[i]);
// has: y_v.at[k] = x_v.at[k] * weight_v.at[k];
// has: packed_store(&y[i], y_v);
#include <cooperative_groups.h>
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in, const float *weight, int rows, int d)
{
    auto warp = cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block());
    int row = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
    const float *x = in + row * d;
    float *y = out + row * d;
    for (int i = warp.thread_rank(); i < d; i += warp.size())
        __stcs(y + i, __ldcs(x + i) * *(weight + i));
}

extern "C" void entry(float *out, const float *in, const float *weight, int rows, int d, cudaStream_t stream)
{
    work<<<rows / 4, 128, 0, stream>>>(out, in, weight, rows, d);
}
