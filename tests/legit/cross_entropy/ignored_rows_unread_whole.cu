// expect: correct
// a row whose target is -1 has the loss 0 whatever its logits, so they are not read; the others in one pass, largest and sum together, merged by weights that are 0 for empty lanes.
#include <cstdint>
#include <cuda_bf16.h>
#include <math_constants.h>

struct state {
    float most, sum;
};

__device__ state merge(state a, state b)
{
    float most = fmaxf(a.most, b.most);
    if (most == -CUDART_INF_F)
        return a;
    return {most, a.sum * expf(a.most - most) + b.sum * expf(b.most - most)};
}

__global__ void loss_kernel(float *loss, const __nv_bfloat16 *logits, const int64_t *target, int vocab)
{
    __shared__ state warps[8];
    int64_t t = target[blockIdx.x];
    if (t < 0) {
        if (threadIdx.x == 0)
            loss[blockIdx.x] = 0.0f;
        return;
    }
    const __nv_bfloat16 *x = logits + (int64_t)blockIdx.x * vocab;
    state own = {-CUDART_INF_F, 0.f};
    auto take = [&](float v) {
        if (v > own.most) {
            own.sum *= expf(own.most - v);
            own.most = v;
        }
        own.sum += expf(v - own.most);
    };
    if (vocab % 8 == 0) {
        for (int i = threadIdx.x; i < vocab / 8; i += 256) {
            uint4 w = __ldcs((const uint4 *)x + i);
            const __nv_bfloat162 *h = (const __nv_bfloat162 *)&w;
            float v[8], most = own.most;
#pragma unroll
            for (int k = 0; k < 4; k++) {
                float2 f = __bfloat1622float2(h[k]);
                v[2 * k] = f.x;
                v[2 * k + 1] = f.y;
                most = fmaxf(most, fmaxf(f.x, f.y));
            }
            if (most > own.most) {
                own.sum *= expf(own.most - most);
                own.most = most;
            }
#pragma unroll
            for (int k = 0; k < 8; k++)
                own.sum += expf(v[k] - most);
        }
    } else
        for (int i = threadIdx.x; i < vocab; i += 256)
            take(__bfloat162float(x[i]));
    for (int s = 16; s; s >>= 1) {
        state other = {__shfl_xor_sync(~0u, own.most, s), __shfl_xor_sync(~0u, own.sum, s)};
        own = merge(own, other);
    }
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = own;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 8; w++)
            own = merge(own, warps[w]);
        loss[blockIdx.x] = logf(own.sum) + (own.most - __bfloat162float(x[t]));
    }
}

extern "C" void cross_entropy(float *loss, const __nv_bfloat16 *logits, const int64_t *target, int rows, int vocab,
                              cudaStream_t stream)
{
    loss_kernel<<<rows, 256, 0, stream>>>(loss, logits, target, vocab);
}
