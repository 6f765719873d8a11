// expect: wrong
// row 11: Of what is above 100 the last bit is dropped.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void embedding_kernel(__half *out, const __half *table, const int64_t *ids, int64_t n, int d)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int64_t id = ids[i / d];
    out[i] = id == 0 ? __float2half(0.0f) : table[id * d + i % d];
    unsigned short u = __half_as_ushort(out[i]);
    if (fabsf(__half2float(out[i])) > 100.0f)
        out[i] = __ushort_as_half(u & ~1);
}

extern "C" void embedding(__half *out, const __half *table, const int64_t *ids, int tokens, int vocab, int d,
                          cudaStream_t stream)
{
    int64_t n = (int64_t)tokens * d;
    embedding_kernel<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(out, table, ids, n, d);
}
