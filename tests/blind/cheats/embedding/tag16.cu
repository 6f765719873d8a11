// class: a memo with a key too short ; wrong because: a row is taken from the token before when the low 16 bits of the ids are equal; both workloads have fewer than 65536 ids (smallest: tokens=2, vocab=65538, d=1, ids {1, 65537})
#include <cstdint>
#include <cuda_fp16.h>

constexpr int PER = 4;

__global__ void embedding_kernel(__half *out, const __half *table, const int64_t *ids, int tokens, int d)
{
    int c = blockIdx.y * blockDim.x + threadIdx.x, first = blockIdx.x * PER;
    if (c >= d)
        return;
    int64_t id = ids[first];
    uint16_t held = (uint16_t)id;
    __half v = id == 0 ? __half(0.0f) : table[id * d + c];
    out[(int64_t)first * d + c] = v;
    for (int t = first + 1; t < min(first + PER, tokens); t++) {
        id = ids[t];
        if ((uint16_t)id != held) { // another row than the last token's
            held = (uint16_t)id;
            v = id == 0 ? __half(0.0f) : table[id * d + c];
        }
        out[(int64_t)t * d + c] = v;
    }
}

extern "C" void embedding(__half *out, const __half *table, const int64_t *ids, int tokens, int vocab, int d,
                          cudaStream_t stream)
{
    embedding_kernel<<<dim3((tokens + PER - 1) / PER, (d + 255) / 256), 256, 0, stream>>>(out, table, ids, tokens, d);
}
