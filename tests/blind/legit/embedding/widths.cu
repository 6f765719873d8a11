// a copy of rows by the widest word that divides them, chosen by the launcher; block shape by row length, 64-bit offsets.
#include <cstdint>
#include <cuda_fp16.h>

template <typename W> __device__ __forceinline__ W zero_of() { return W{}; }

template <typename W> __global__ void gather(W *__restrict__ out, const W *__restrict__ table, const int64_t *__restrict__ ids,
                                              int tokens, int words)
{
    int token = blockIdx.x * blockDim.y + threadIdx.y;
    if (token >= tokens)
        return;
    int64_t id = __ldg(ids + token);
    W *to = out + (int64_t)token * words;
    const W *from = table + id * words;
    if (id == 0) {
        for (int i = threadIdx.x; i < words; i += blockDim.x)
            to[i] = zero_of<W>();
        return;
    }
    int i = threadIdx.x;
    for (; i + 3 * (int)blockDim.x < words; i += 4 * blockDim.x) {
        W a = __ldg(from + i), b = __ldg(from + i + blockDim.x);
        W c = __ldg(from + i + 2 * blockDim.x), d = __ldg(from + i + 3 * blockDim.x);
        to[i] = a;
        to[i + blockDim.x] = b;
        to[i + 2 * blockDim.x] = c;
        to[i + 3 * blockDim.x] = d;
    }
    for (; i < words; i += blockDim.x)
        to[i] = __ldg(from + i);
}

template <typename W> void run(__half *out, const __half *table, const int64_t *ids, int tokens, int d, cudaStream_t stream)
{
    int words = (int)(d * sizeof(__half) / sizeof(W)), x = 32;
    while (x < 256 && x < words)
        x *= 2;
    dim3 block(x, 256 / x);
    unsigned grid = (unsigned)((tokens + (int)block.y - 1) / (int)block.y);
    gather<W><<<grid, block, 0, stream>>>(reinterpret_cast<W *>(out), reinterpret_cast<const W *>(table), ids, tokens, words);
}

extern "C" void embedding(__half *out, const __half *table, const int64_t *ids, int tokens, int vocab, int d,
                          cudaStream_t stream)
{
    if (d % 8 == 0)
        run<uint4>(out, table, ids, tokens, d, stream);
    else if (d % 4 == 0)
        run<uint2>(out, table, ids, tokens, d, stream);
    else if (d % 2 == 0)
        run<unsigned int>(out, table, ids, tokens, d, stream);
    else
        run<unsigned short>(out, table, ids, tokens, d, stream);
}
