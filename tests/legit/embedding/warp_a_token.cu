// expect: correct
// A warp a token; vectors of eight where the row's length and both addresses let them.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void embedding_kernel(__half *out, const __half *table, const int64_t *ids, int tokens, int d)
{
    int lane = threadIdx.x & 31;
    int64_t token = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    if (token >= tokens)
        return;
    int64_t id = 0;
    if (lane == 0)
        id = ids[token];
    id = __shfl_sync(0xffffffffu, id, 0);
    const __half *from = table + id * d;
    __half *to = out + token * d;
    if ((d & 7) == 0 && (((uintptr_t)table | (uintptr_t)out) & 15) == 0) {
        for (int i = lane; i < d / 8; i += 32)
            reinterpret_cast<uint4 *>(to)[i] = id ? __ldg(reinterpret_cast<const uint4 *>(from) + i) : uint4{};
    } else {
        for (int i = lane; i < d; i += 32)
            to[i] = id ? from[i] : __half{};
    }
}

extern "C" void embedding(__half *out, const __half *table, const int64_t *ids, int tokens, int vocab, int d,
                          cudaStream_t stream)
{
    (void)vocab;
    enum : unsigned { WARPS = 4 };
    embedding_kernel<<<(tokens + WARPS - 1) / WARPS, WARPS * 32, 0, stream>>>(out, table, ids, tokens, d);
}
