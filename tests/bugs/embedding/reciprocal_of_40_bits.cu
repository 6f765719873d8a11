// expect: unsafe
// row 12: i / d by a reciprocal of 40 bits, which is exact only for small i and odd d far from a power of two.
#include <cstdint>
#include <cuda_fp16.h>

struct Divide {
    unsigned long long m;
    unsigned d;
};

__global__ void __launch_bounds__(256) embedding_kernel(__half *out, const __half *table, const int64_t *ids, int64_t n,
                                                        Divide by)
{
    int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x;
    if (i >= n)
        return;
    unsigned token = (unsigned)(__umul64hi((unsigned long long)i << 24, by.m));
    int64_t column = i - (int64_t)token * by.d;
    int64_t id = __ldg(ids + token);
    out[i] = id == 0 ? __float2half(0.0f) : table[id * by.d + column];
}

__global__ void __launch_bounds__(128) embedding_vec(__half *out, const __half *table, const int64_t *ids, int vectors)
{
    int64_t token = blockIdx.x, id = __ldg(ids + token);
    const uint4 *from = reinterpret_cast<const uint4 *>(table) + id * vectors;
    uint4 *to = reinterpret_cast<uint4 *>(out) + token * vectors;
    for (int i = threadIdx.x; i < vectors; i += 128)
        to[i] = id == 0 ? make_uint4(0, 0, 0, 0) : from[i];
}

extern "C" void embedding(__half *out, const __half *table, const int64_t *ids, int tokens, int vocab, int d,
                          cudaStream_t stream)
{
    int64_t n = (int64_t)tokens * d;
    if (d % 8 == 0) {
        embedding_vec<<<tokens, 128, 0, stream>>>(out, table, ids, d / 8);
        return;
    }
    Divide by;
    by.d = (unsigned)d;
    by.m = ((1ull << 40) + (unsigned)d - 1) / (unsigned)d;
    embedding_kernel<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(out, table, ids, n, by);
}
