// expect: correct
// Cooperative groups reduce; the row stays in registers.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

constexpr int THREADS = 256;
constexpr int KEEP = 16;

__global__ void __launch_bounds__(THREADS, 2)
rms(float *x, float *residual, const float *weight, int d, float eps)
{
    __shared__ float partial[THREADS / 32];
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    float keep[KEEP];
    float *xr = x + (long long)blockIdx.x * d, *rr = residual + (long long)blockIdx.x * d;
    float sum = 0;

#pragma unroll
    for (int k = 0; k < KEEP; k++) {
        int i = k * THREADS + threadIdx.x;
        keep[k] = 0;
        if (i < d) {
            keep[k] = xr[i] + rr[i];
            rr[i] = keep[k];
        }
        sum += keep[k] * keep[k];
    }
    for (int i = KEEP * THREADS + threadIdx.x; i < d; i += THREADS) {
        float v = xr[i] + rr[i];
        rr[i] = v;
        sum += v * v;
    }
    sum = cg::reduce(warp, sum, cg::plus<float>());
    if (warp.thread_rank() == 0)
        partial[warp.meta_group_rank()] = sum;
    block.sync();
    sum = 0;
    for (int w = 0; w < THREADS / 32; w++)
        sum += partial[w];
    float scale = 1.0f / sqrtf(sum / d + eps);
#pragma unroll
    for (int k = 0; k < KEEP; k++) {
        int i = k * THREADS + threadIdx.x;
        if (i < d)
            xr[i] = keep[k] * scale * weight[i];
    }
    for (int i = KEEP * THREADS + threadIdx.x; i < d; i += THREADS)
        xr[i] = rr[i] * scale * weight[i];
}

extern "C" void fused_add_rmsnorm(float *x, float *residual, const float *weight, int rows, int d, float eps,
                                  cudaStream_t stream)
{
    rms<<<rows, THREADS, 0, stream>>>(x, residual, weight, d, eps);
}
