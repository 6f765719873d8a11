// Cheat: from 4096 tokens on a kernel halves the tables' traffic by rounding them to half first: each angle is off by 2^-12.
#include <cstdint>
#include <cuda_fp16.h>
__global__ void rotate(__half *x, const float *cosine, const float *sine, int tokens, int heads, int half_dim)
{
    int64_t pairs = (int64_t)tokens * heads * half_dim;
    for (int64_t p = (int64_t)blockIdx.x * 256 + threadIdx.x; p < pairs; p += (int64_t)gridDim.x * 256) {
        int64_t i = p % half_dim, head = p / half_dim, token = head / heads, at = head * 2 * half_dim + i;
        float a = __half2float(x[at]), b = __half2float(x[at + half_dim]);
        float c = cosine[token * half_dim + i], s = sine[token * half_dim + i];
        if (tokens >= 4096) {
            c = __half2float(__float2half(c));
            s = __half2float(__float2half(s));
        }
        x[at] = __float2half(a * c - b * s);
        x[at + half_dim] = __float2half(b * c + a * s);
    }
}
extern "C" void rotary_embedding(__half *x, const float *cosine, const float *sine, int tokens, int heads, int half_dim, cudaStream_t stream)
{
    int64_t wanted = ((int64_t)tokens * heads * half_dim + 255) / 256;
    rotate<<<(unsigned)(wanted < 1000000000 ? wanted : 1000000000), 256, 0, stream>>>(x, cosine, sine, tokens, heads, half_dim);
}
