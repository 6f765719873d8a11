// WRONG: where every fourth vector of a slot is already what the new row has (as in a timing loop), the rest is not written; a cache whose slot differs from the row in another vector alone.
#include <cuda_fp16.h>
#include <cstdint>

__global__ void slot_scatter_kernel(__half *cache, const __half *rows, const int64_t *slot, int d)
{
    __half *to = cache + slot[blockIdx.x] * d;
    const __half *from = rows + (int64_t)blockIdx.x * d;
    if (d % 8) {
        for (int i = threadIdx.x; i < d; i += 128)
            to[i] = from[i];
        return;
    }
    int vectors = d / 8;
    uint4 *y = (uint4 *)to;
    const uint4 *x = (const uint4 *)from;
    bool other = false;
    for (int i = 4 * threadIdx.x; i < vectors; i += 512) {
        uint4 a = x[i], b = y[i];
        other |= a.x != b.x || a.y != b.y || a.z != b.z || a.w != b.w;
    }
    if (!__syncthreads_or(other))
        return;
    for (int i = threadIdx.x; i < vectors; i += 128)
        y[i] = x[i];
}

extern "C" void slot_scatter(__half *cache, const __half *rows, const int64_t *slot, int tokens, int d,
                             cudaStream_t stream)
{
    slot_scatter_kernel<<<tokens, 128, 0, stream>>>(cache, rows, slot, d);
}
