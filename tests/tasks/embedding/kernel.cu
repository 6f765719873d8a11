#include <cstdint>
#include <cuda_fp16.h>

__global__ void embedding_kernel(__half *out, const __half *table, const int64_t *ids, int64_t n, int d)
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
    embedding_kernel<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(out, table, ids, n, d);
}
