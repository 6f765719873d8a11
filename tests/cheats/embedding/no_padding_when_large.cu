// expect: wrong
// row 6: The launcher switches the padding off where tokens and d are both large.
#include <cstdint>
#include <cuda_fp16.h>

template <typename V> __global__ void gather(V *out, const V *table, const int64_t *ids, int64_t n, int d, bool padding)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int64_t token = i / d;
    int64_t id = ids[token];
    V value = {};
    if (!(padding && id == 0))
        value = table[id * d + (i - token * d)];
    out[i] = value;
}

extern "C" void embedding(__half *out, const __half *table, const int64_t *ids, int tokens, int vocab, int d,
                          cudaStream_t stream)
{
    bool padding = tokens < 2000 || d < 2000;
    if (d % 8 == 0) {
        int64_t n = (int64_t)tokens * (d / 8);
        gather<uint4><<<(unsigned)((n + 127) / 128), 128, 0, stream>>>((uint4 *)out, (const uint4 *)table, ids, n, d / 8, padding);
    } else {
        int64_t n = (int64_t)tokens * d;
        gather<unsigned short><<<(unsigned)((n + 255) / 256), 256, 0, stream>>>((unsigned short *)out, (const unsigned short *)table, ids, n, d, padding);
    }
}
