// expect: launch-failed
// row 12: Blocks of 32 threads are more than a grid has, in the corner of the domain.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void __launch_bounds__(32) embedding_kernel(__half *out, const __half *table, const int64_t *ids, int64_t n, int d)
{
    int64_t i = (int64_t)blockIdx.x * 32 + threadIdx.x;
    if (i >= n)
        return;
    int64_t token = i / d;
    int64_t id = ids[token];
    out[i] = id == 0 ? __float2half(0.0f) : table[id * d + i - token * d];
}

extern "C" void embedding(__half *out, const __half *table, const int64_t *ids, int tokens, int vocab, int d,
                          cudaStream_t stream)
{
    int64_t n = (int64_t)tokens * d;
    embedding_kernel<<<(unsigned)((n + 31) / 32), 32, 0, stream>>>(out, table, ids, n, d);
}
