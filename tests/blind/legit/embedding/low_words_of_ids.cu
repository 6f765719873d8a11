// RIGHT: ids are promised to be below vocab, at most 262144, so the low word of each is all of it; whole vectors where a row is a multiple of 16 bytes, else by halves; several tokens a block, by stride.
#include <cstdint>
#include <cuda_fp16.h>

template <typename V> __global__ void gather(V *out, const V *table, const unsigned *ids, int tokens, int per)
{
    for (int token = blockIdx.x * blockDim.y + threadIdx.y; token < tokens; token += gridDim.x * blockDim.y) {
        int64_t id = ids[2 * (int64_t)token];
        const V *from = table + id * per;
        V *to = out + (int64_t)token * per;
        for (int i = threadIdx.x; i < per; i += 32)
            to[i] = id ? from[i] : V{};
    }
}

extern "C" void embedding(__half *out, const __half *table, const int64_t *ids, int tokens, int vocab, int d,
                          cudaStream_t stream)
{
    int blocks = (tokens + 3) / 4;
    dim3 grid(blocks < 16384 ? blocks : 16384), block(32, 4);
    const unsigned *low = (const unsigned *)ids;
    if (d % 8 == 0)
        gather<uint4><<<grid, block, 0, stream>>>((uint4 *)out, (const uint4 *)table, low, tokens, d / 8);
    else if (d % 2 == 0)
        gather<unsigned><<<grid, block, 0, stream>>>((unsigned *)out, (const unsigned *)table, low, tokens, d / 2);
    else
        gather<unsigned short><<<grid, block, 0, stream>>>((unsigned short *)out, (const unsigned short *)table, low,
                                                           tokens, d);
}
