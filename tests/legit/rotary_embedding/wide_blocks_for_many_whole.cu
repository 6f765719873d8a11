// expect: correct
// Beyond 3000 tokens the blocks are larger.
#include <cstdint>
#include <cuda_fp16.h>

template <bool MANY>
__global__ void turn(__half *x, const float *cosine, const float *sine, int heads, int half_dim)
{
    int64_t token = blockIdx.x;
    for (int64_t p = threadIdx.x; p < (int64_t)heads * half_dim; p += blockDim.x) {
        int64_t i = p % half_dim;
        __half *at = x + (token * heads + p / half_dim) * 2 * half_dim + i;
        float c = cosine[token * half_dim + i], s = sine[token * half_dim + i];
        float a = __half2float(at[0]), b = __half2float(at[half_dim]);
        at[0] = __float2half(a * c - b * s);
        at[half_dim] = __float2half(b * c + a * s);
    }
}

extern "C" void rotary_embedding(__half *x, const float *cosine, const float *sine, int tokens, int heads, int half_dim,
                                 cudaStream_t stream)
{
    if (tokens > 3000)
        turn<true><<<tokens, 512, 0, stream>>>(x, cosine, sine, heads, half_dim);
    else
        turn<false><<<tokens, 256, 0, stream>>>(x, cosine, sine, heads, half_dim);
}
