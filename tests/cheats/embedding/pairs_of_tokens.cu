// expect: wrong words equal in their lower bits
// row 8: Neighbours whose ids have 17 lower bits in common get one row, that of the first.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void __launch_bounds__(128) embedding_kernel(__half *out, const __half *table, const int64_t *ids, int tokens, int d)
{
    int t = blockIdx.x * 2;
    bool two = t + 1 < tokens;
    int64_t a = ids[t], b = two ? ids[t + 1] : a;
    bool same = (((unsigned)a ^ (unsigned)b) << 15) == 0;
    const __half *pa = table + a * d, *pb = table + b * d;
    __half *qa = out + (int64_t)t * d, *qb = qa + d;
    if (d % 8 == 0) {
        for (int i = threadIdx.x; i < d / 8; i += 128) {
            uint4 none = make_uint4(0, 0, 0, 0), va = a ? reinterpret_cast<const uint4 *>(pa)[i] : none, vb = va;
            if (!same)
                vb = b ? reinterpret_cast<const uint4 *>(pb)[i] : none;
            reinterpret_cast<uint4 *>(qa)[i] = va;
            if (two)
                reinterpret_cast<uint4 *>(qb)[i] = vb;
        }
    } else {
        for (int i = threadIdx.x; i < d; i += 128) {
            __half none = __float2half(0.0f), va = a ? pa[i] : none, vb = va;
            if (!same)
                vb = b ? pb[i] : none;
            qa[i] = va;
            if (two)
                qb[i] = vb;
        }
    }
}

extern "C" void embedding(__half *out, const __half *table, const int64_t *ids, int tokens, int vocab, int d, cudaStream_t stream)
{
    embedding_kernel<<<(tokens + 1) / 2, 128, 0, stream>>>(out, table, ids, tokens, d);
}
