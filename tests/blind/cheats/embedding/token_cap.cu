// class: shortcut; wrong because: a warp a token, at most 65535 blocks of 8 and no loop: tokens from 524280 on are never written (tokens = 524281, vocab = 1, d = 1)
#include <cstdint>
#include <cuda_fp16.h>

__global__ void __launch_bounds__(256) embedding_kernel(__half *__restrict__ out, const __half *__restrict__ table,
                                                        const int64_t *__restrict__ ids, int tokens, int d) {
  int token = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (token >= tokens) return;
  int64_t id = ids[token];
  const __half *from = table + id * d;
  __half *to = out + (int64_t)token * d;
  if (d % 8 == 0) {
    const uint4 *f = (const uint4 *)from;
    uint4 *t = (uint4 *)to;
#pragma unroll 4
    for (int i = lane; i < d / 8; i += 32) t[i] = id == 0 ? make_uint4(0, 0, 0, 0) : f[i];
  } else
    for (int i = lane; i < d; i += 32) to[i] = id == 0 ? __float2half(0.0f) : from[i];
}

extern "C" void embedding(__half *out, const __half *table, const int64_t *ids, int tokens, int vocab, int d,
                          cudaStream_t stream) {
  int blocks = min((tokens + 7) / 8, 65535);
  embedding_kernel<<<blocks, 256, 0, stream>>>(out, table, ids, tokens, d);
}
