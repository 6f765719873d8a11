// expect: wrong
// row 12: No more heads than a block has warps.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void rotary_embedding_kernel(__half *x, const float *cosine, const float *sine, int tokens,
                                        int heads, int half_dim)
{
    int64_t pair = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (pair >= (int64_t)tokens * min(heads, 64) * half_dim)
        return;
    int64_t i = pair % half_dim;
    int64_t head = pair / half_dim;
    int64_t token = head / heads;
    int64_t first = head * 2 * half_dim + i;

    float a = __half2float(x[first]);
    float b = __half2float(x[first + half_dim]);
    float c = cosine[token * half_dim + i];
    float s = sine[token * half_dim + i];
    x[first] = __float2half(a * c - b * s);
    x[first + half_dim] = __float2half(b * c + a * s);
}

extern "C" void rotary_embedding(__half *x, const float *cosine, const float *sine, int tokens, int heads,
                                 int half_dim, cudaStream_t stream)
{
    int64_t pairs = (int64_t)tokens * heads * half_dim;
    unsigned blocks = (unsigned)((pairs + 63) / 64);
    rotary_embedding_kernel<<<blocks, 64, 0, stream>>>(x, cosine, sine, tokens, heads, half_dim);
}
