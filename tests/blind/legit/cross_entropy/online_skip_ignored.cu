// One online pass over the row in 16-byte loads, and none at all for an ignored row; any vocab: rows that are not 16-byte aligned are peeled. Threads without elements hold (-inf, 0).
#include <cstdint>
#include <cuda_bf16.h>
#include <math_constants.h>

constexpr int THREADS = 512;

__device__ __forceinline__ void take(float &most, float &sum, float v)
{
    if (v > most) {
        sum = sum * expf(most - v) + 1.0f;
        most = v;
    } else {
        sum += expf(v - most);
    }
}

__device__ __forceinline__ void merge(float &most, float &sum, float most2, float sum2)
{
    if (sum2 == 0.0f)
        return; // it saw nothing
    if (most2 > most) {
        sum = sum * expf(most - most2) + sum2;
        most = most2;
    } else {
        sum += sum2 * expf(most2 - most);
    }
}

__global__ void __launch_bounds__(THREADS) cross_entropy_kernel(float *__restrict__ loss,
                                                                const __nv_bfloat16 *__restrict__ logits,
                                                                const int64_t *__restrict__ target, int vocab)
{
    __shared__ float2 warps[THREADS / 32];
    const int64_t t = target[blockIdx.x];
    if (t < 0) { // the same for the whole block
        if (threadIdx.x == 0)
            loss[blockIdx.x] = 0.0f;
        return;
    }

    const __nv_bfloat16 *x = logits + (int64_t)blockIdx.x * vocab;
    float most = -CUDART_INF_F, sum = 0.0f;

    int head = (int)((16 - ((uintptr_t)x & 15)) & 15) / 2;
    head = min(head, vocab);
    if ((int)threadIdx.x < head)
        take(most, sum, __bfloat162float(x[threadIdx.x]));
    const int vectors = (vocab - head) / 8;
    for (int i = threadIdx.x; i < vectors; i += THREADS) {
        const uint4 raw = __ldg(reinterpret_cast<const uint4 *>(x + head) + i);
        const unsigned word[4] = {raw.x, raw.y, raw.z, raw.w};
#pragma unroll
        for (int k = 0; k < 4; k++) {
            take(most, sum, __uint_as_float(word[k] << 16));
            take(most, sum, __uint_as_float(word[k] & 0xffff0000u));
        }
    }
    const int rest = head + vectors * 8 + threadIdx.x;
    if (rest < vocab)
        take(most, sum, __bfloat162float(x[rest]));

#pragma unroll
    for (int o = 16; o > 0; o >>= 1) {
        const float other_most = __shfl_xor_sync(0xffffffffu, most, o);
        const float other_sum = __shfl_xor_sync(0xffffffffu, sum, o);
        merge(most, sum, other_most, other_sum);
    }
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = make_float2(most, sum);
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < THREADS / 32; w++)
            merge(most, sum, warps[w].x, warps[w].y);
        loss[blockIdx.x] = logf(sum) + most - __bfloat162float(x[t]);
    }
}

extern "C" void cross_entropy(float *loss, const __nv_bfloat16 *logits, const int64_t *target, int rows, int vocab,
                              cudaStream_t stream)
{
    cross_entropy_kernel<<<rows, THREADS, 0, stream>>>(loss, logits, target, vocab);
}
