// right: one pass with a running maximum, 16 bytes at a time from the first aligned place of a row on (rows of odd length begin anywhere); a maximum and its sum are merged as one value.
#include <cfloat>
#include <cstdint>
#include <cuda_bf16.h>

struct Tally {
    float most, sum; // no number yet: -FLT_MAX, below every bfloat16, and 0
    __device__ __forceinline__ void operator+=(const Tally &o)
    {
        float top = fmaxf(most, o.most);
        sum = sum * expf(most - top) + o.sum * expf(o.most - top);
        most = top;
    }
};

constexpr int THREADS = 256;

__global__ void __launch_bounds__(THREADS) cross_entropy_kernel(float *__restrict__ loss, const __nv_bfloat16 *__restrict__ logits,
                                                                const int64_t *__restrict__ target, int vocab)
{
    __shared__ Tally tallies[THREADS / 32];
    const int64_t t = target[blockIdx.x];
    if (t < 0) { // the whole block
        if (threadIdx.x == 0)
            loss[blockIdx.x] = 0.0f;
        return;
    }
    const __nv_bfloat16 *x = logits + (int64_t)blockIdx.x * vocab;
    const int odd = (int)(reinterpret_cast<uintptr_t>(x) / 2 % 8);
    const int head = min(vocab, (8 - odd) % 8), whole = (vocab - head) / 8, tail = head + 8 * whole;
    Tally own = {-FLT_MAX, 0.0f};
    auto add = [&](int i) { own += Tally{__bfloat162float(x[i]), 1.0f}; };
    if ((int)threadIdx.x < head)
        add(threadIdx.x);
    const uint4 *wide = reinterpret_cast<const uint4 *>(x + head);
    for (int i = threadIdx.x; i < whole; i += THREADS) {
        const uint4 w = wide[i];
        const uint32_t bits[4] = {w.x, w.y, w.z, w.w};
        float v[8];
#pragma unroll
        for (int k = 0; k < 4; k++) { // a bfloat16 is the upper half of a float
            v[2 * k] = __uint_as_float(bits[k] << 16);
            v[2 * k + 1] = __uint_as_float(bits[k] & 0xffff0000u);
        }
        float top = own.most;
#pragma unroll
        for (int k = 0; k < 8; k++)
            top = fmaxf(top, v[k]);
        float sum = own.sum * expf(own.most - top);
#pragma unroll
        for (int k = 0; k < 8; k++)
            sum += expf(v[k] - top);
        own = {top, sum};
    }
    if (tail + (int)threadIdx.x < vocab)
        add(tail + threadIdx.x);
#pragma unroll
    for (int s = 16; s > 0; s >>= 1) {
        Tally other;
        other.most = __shfl_xor_sync(~0u, own.most, s);
        other.sum = __shfl_xor_sync(~0u, own.sum, s);
        own += other;
    }
    if (threadIdx.x % 32 == 0)
        tallies[threadIdx.x / 32] = own;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < THREADS / 32; w++)
            own += tallies[w];
        loss[blockIdx.x] = logf(own.sum) + own.most - __bfloat162float(x[t]);
    }
}

extern "C" void cross_entropy(float *loss, const __nv_bfloat16 *logits, const int64_t *target, int rows, int vocab,
                              cudaStream_t stream)
{
    cross_entropy_kernel<<<rows, THREADS, 0, stream>>>(loss, logits, target, vocab);
}
