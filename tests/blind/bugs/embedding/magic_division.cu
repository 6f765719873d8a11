// class: round 12 ; wrong because: i / d by multiplication with the reciprocal in 32 bits, rounded up: wrong from some millions of elements on for most d.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void embedding_small(__half *out, const __half *table, const int64_t *ids, unsigned n, unsigned d, unsigned magic)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned token = d == 1 ? i : __umulhi(i, magic);
    int64_t id = ids[token];
    out[i] = id == 0 ? __float2half(0.0f) : table[id * d + (i - token * d)];
}

__global__ void embedding_large(__half *out, const __half *table, const int64_t *ids, int64_t n, int d)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int64_t id = ids[i / d];
    out[i] = id == 0 ? __float2half(0.0f) : table[id * d + i % d];
}

extern "C" void embedding(__half *out, const __half *table, const int64_t *ids, int tokens, int vocab, int d,
                          cudaStream_t stream)
{
    int64_t n = (int64_t)tokens * d;
    unsigned blocks = (unsigned)((n + 255) / 256);
    if (n < 2147483648ll)
        embedding_small<<<blocks, 256, 0, stream>>>(out, table, ids, (unsigned)n, d,
                                                   (unsigned)((4294967296ull + d - 1) / d));
    else
        embedding_large<<<blocks, 256, 0, stream>>>(out, table, ids, n, d);
}
