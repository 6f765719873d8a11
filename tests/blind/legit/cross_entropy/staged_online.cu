// A ring of four cp.async stages of 16 bytes a thread, online log-sum-exp in base 2; odd vocabularies without the ring.
#include <cstdint>
#include <cuda_bf16.h>

constexpr int THREADS = 256, STAGES = 4;
constexpr float LOG2E = 1.4426950408889634f;

struct Lse { float most, sum; };

__device__ __forceinline__ void take(Lse &l, float x)
{
    float most = fmaxf(l.most, x);
    l.sum = l.sum * expf(l.most - most) + expf(x - most);
    l.most = most;
}

__device__ __forceinline__ Lse both(Lse a, Lse b)
{
    float most = fmaxf(a.most, b.most);
    return Lse{most, a.sum * expf(a.most - most) + b.sum * expf(b.most - most)};
}

__global__ void __launch_bounds__(THREADS) loss_kernel(float *loss, const __nv_bfloat16 *logits, const int64_t *target, int vocab)
{
    __shared__ uint4 ring[STAGES][THREADS];
    __shared__ Lse part[THREADS / 32];
    const __nv_bfloat16 *x = logits + (int64_t)blockIdx.x * vocab;
    Lse l{-3.402823466e38f, 0.0f};
    if (vocab % 8 == 0) {
        const int vectors = vocab / 8;
        auto start = [&](int i, int stage) {
            if (i < vectors) {
                unsigned to = (unsigned)__cvta_generic_to_shared(&ring[stage][threadIdx.x]);
                asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(x + (int64_t)i * 8) : "memory");
            }
            asm volatile("cp.async.commit_group;" ::: "memory");
        };
#pragma unroll
        for (int s = 0; s < STAGES - 1; s++)
            start(threadIdx.x + s * THREADS, s);
        int stage = 0;
        for (int i = threadIdx.x; i < vectors; i += THREADS) {
            start(i + (STAGES - 1) * THREADS, (stage + STAGES - 1) % STAGES);
            asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 1) : "memory");
            uint4 v = ring[stage][threadIdx.x];
            const __nv_bfloat162 *h = reinterpret_cast<const __nv_bfloat162 *>(&v);
            float f[8];
#pragma unroll
            for (int j = 0; j < 4; j++) {
                float2 g = __bfloat1622float2(h[j]);
                f[2 * j] = g.x;
                f[2 * j + 1] = g.y;
            }
            float most = l.most;
#pragma unroll
            for (int j = 0; j < 8; j++)
                most = fmaxf(most, f[j]);
            float sum = l.sum * expf(l.most - most);
#pragma unroll
            for (int j = 0; j < 8; j++)
                sum += expf(f[j] - most);
            l = Lse{most, sum};
            stage = (stage + 1) % STAGES;
        }
        asm volatile("cp.async.wait_all;" ::: "memory");
    } else {
        for (int i = threadIdx.x; i < vocab; i += THREADS)
            take(l, __bfloat162float(x[i]));
    }
    for (int k = 16; k; k >>= 1)
        l = both(l, Lse{__shfl_xor_sync(~0u, l.most, k), __shfl_xor_sync(~0u, l.sum, k)});
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = l;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < THREADS / 32; w++)
            l = both(l, part[w]);
        int64_t t = target[blockIdx.x];
        loss[blockIdx.x] = t < 0 ? 0.0f : logf(l.sum) + l.most - __bfloat162float(x[t]);
    }
}

extern "C" void cross_entropy(float *loss, const __nv_bfloat16 *logits, const int64_t *target, int rows, int vocab, cudaStream_t stream)
{
    loss_kernel<<<rows, THREADS, 0, stream>>>(loss, logits, target, vocab);
}
