// class: 32-bit overflow that needs a value, not a shape alone ; wrong because: id * d in 32 bits wraps where the table has more than 2^32 elements (smallest: vocab*d > 2^32, as vocab = 65538, d = 65536 and an id of 65537: row 1 is given)
#include <cstdint>
#include <cuda_fp16.h>

__global__ void embedding_kernel(__half *out, const __half *table, const int64_t *ids, unsigned d)
{
    unsigned id = (unsigned)ids[blockIdx.x];
    const __half *from = table + id * d;
    __half *to = out + (size_t)blockIdx.x * d;
    for (unsigned i = threadIdx.x; i < d; i += blockDim.x)
        to[i] = id == 0 ? __half(0.0f) : from[i];
}

extern "C" void embedding(__half *out, const __half *table, const int64_t *ids, int tokens, int vocab, int d,
                          cudaStream_t stream)
{
    embedding_kernel<<<tokens, 256, 0, stream>>>(out, table, ids, d);
}
