// class: wrong neutral element ; wrong because: the running maximum begins at -3e38, but bf16 goes to -3.39e38: logits all below give sum 0 (smallest: rows=1, vocab=1, logit -3.3e38, target 0: right 0, given -inf + ...)
#include <cstdint>
#include <cuda_bf16.h>

constexpr float LOWEST = -3.0e38f; // not -inf: (-inf) - (-inf) would be NaN

__device__ void merge(float &m, float &s, float m2, float s2)
{
    float most = fmaxf(m, m2);
    s = s * expf(m - most) + s2 * expf(m2 - most);
    m = most;
}

__global__ void cross_entropy_kernel(float *loss, const __nv_bfloat16 *logits, const int64_t *target, int vocab)
{
    __shared__ float ms[8], ss[8];
    const __nv_bfloat16 *x = logits + (int64_t)blockIdx.x * vocab;
    float m = LOWEST, s = 0.0f;
    for (int i = threadIdx.x; i < vocab; i += 256)
        merge(m, s, __bfloat162float(x[i]) > m ? __bfloat162float(x[i]) : m, 0.0f),
            s += expf(__bfloat162float(x[i]) - m);
    for (int k = 16; k > 0; k /= 2) {
        float m2 = __shfl_xor_sync(0xffffffffu, m, k), s2 = __shfl_xor_sync(0xffffffffu, s, k);
        merge(m, s, m2, s2);
    }
    if (threadIdx.x % 32 == 0) {
        ms[threadIdx.x / 32] = m;
        ss[threadIdx.x / 32] = s;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 8; w++)
            merge(m, s, ms[w], ss[w]);
        int64_t t = target[blockIdx.x];
        loss[blockIdx.x] = t < 0 ? 0.0f : logf(s) + m - __bfloat162float(x[t]);
    }
}

extern "C" void cross_entropy(float *loss, const __nv_bfloat16 *logits, const int64_t *target, int rows, int vocab,
                              cudaStream_t stream)
{
    cross_entropy_kernel<<<rows, 256, 0, stream>>>(loss, logits, target, vocab);
}
