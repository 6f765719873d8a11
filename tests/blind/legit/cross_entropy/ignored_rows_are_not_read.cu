// expect: correct
// A row whose target is -1 has loss 0 and is not read. Others: vectors of eight logits behind a head that ends on 16 bytes, maximum and sum kept together by each thread (a new maximum rescales its sum).
#include <cstdint>
#include <cuda_bf16.h>
#include <math_constants.h>

__device__ __forceinline__ void take(float &most, float &sum, float v)
{
    if (v > most) {
        sum = sum * expf(most - v) + 1.0f;
        most = v;
    } else
        sum += expf(v - most);
}

__global__ void __launch_bounds__(512) cross_entropy_kernel(float *loss, const __nv_bfloat16 *logits, const int64_t *target, int vocab)
{
    __shared__ float2 part[16];
    int64_t t = target[blockIdx.x];
    if (t < 0) {
        if (threadIdx.x == 0)
            loss[blockIdx.x] = 0.0f;
        return;
    }
    const __nv_bfloat16 *x = logits + (int64_t)blockIdx.x * vocab;
    int head = min(vocab, (int)(-(int64_t)((uintptr_t)x / 2) & 7)), vectors = (vocab - head) / 8;
    float most = -1e38f * 3.4f, sum = 0.0f; // finite: threads without an element have a sum of zero
    for (int i = threadIdx.x; i < head; i += 512)
        take(most, sum, __bfloat162float(x[i]));
    const uint4 *v = (const uint4 *)(x + head);
    for (int i = threadIdx.x; i < vectors; i += 512) {
        uint4 w = v[i];
        unsigned u[4] = {w.x, w.y, w.z, w.w};
#pragma unroll
        for (int k = 0; k < 4; k++) {
            take(most, sum, __uint_as_float(u[k] << 16));
            take(most, sum, __uint_as_float(u[k] & 0xffff0000u));
        }
    }
    for (int i = head + vectors * 8 + threadIdx.x; i < vocab; i += 512)
        take(most, sum, __bfloat162float(x[i]));
    for (int s = 16; s; s /= 2) {
        float m = __shfl_xor_sync(~0u, most, s), a = __shfl_xor_sync(~0u, sum, s), top = fmaxf(m, most);
        sum = sum * expf(most - top) + a * expf(m - top);
        most = top;
    }
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = make_float2(most, sum);
    __syncthreads();
    if (threadIdx.x == 0) {
        float top = part[0].x, all = 0.0f;
        for (int i = 1; i < 16; i++)
            top = fmaxf(top, part[i].x);
        for (int i = 0; i < 16; i++)
            all += part[i].y * expf(part[i].x - top);
        loss[blockIdx.x] = logf(all) + top - __bfloat162float(x[t]);
    }
}

extern "C" void cross_entropy(float *loss, const __nv_bfloat16 *logits, const int64_t *target, int rows, int vocab,
                              cudaStream_t stream)
{
    cross_entropy_kernel<<<rows, 512, 0, stream>>>(loss, logits, target, vocab);
}
