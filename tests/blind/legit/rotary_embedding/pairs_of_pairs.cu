// Right: two pairs a thread as half2 where half_dim is even (both halves of a head then begin on 4 bytes), products and sums in float; a thread owns both halves of its pairs, so in place is safe. Threads of a block share a token; heads in the grid's y up to 65535 and then by a stride.
#include <cstdint>
#include <cuda_fp16.h>
__global__ void rotate_two(__half *x, const float *cosine, const float *sine, int heads, int half_dim)
{
    int64_t token = blockIdx.x, half2s = half_dim / 2;
    for (int64_t w = (int64_t)blockIdx.y * 256 + threadIdx.x; w < heads * half2s; w += (int64_t)gridDim.y * 256) {
        int64_t head = w / half2s, i = w % half2s * 2;
        __half2 *lower = (__half2 *)(x + (token * heads + head) * 2 * half_dim + i), *upper = lower + half2s;
        float2 a = __half22float2(*lower), b = __half22float2(*upper);
        float2 c = *(const float2 *)(cosine + token * half_dim + i), s = *(const float2 *)(sine + token * half_dim + i);
        *lower = __floats2half2_rn(a.x * c.x - b.x * s.x, a.y * c.y - b.y * s.y);
        *upper = __floats2half2_rn(b.x * c.x + a.x * s.x, b.y * c.y + a.y * s.y);
    }
}
__global__ void rotate_one(__half *x, const float *cosine, const float *sine, int heads, int half_dim)
{
    int64_t token = blockIdx.x;
    for (int64_t w = (int64_t)blockIdx.y * 256 + threadIdx.x; w < (int64_t)heads * half_dim; w += (int64_t)gridDim.y * 256) {
        int64_t head = w / half_dim, i = w % half_dim;
        __half *lower = x + (token * heads + head) * 2 * half_dim + i, *upper = lower + half_dim;
        float a = __half2float(*lower), b = __half2float(*upper), c = cosine[token * half_dim + i], s = sine[token * half_dim + i];
        *lower = __float2half(a * c - b * s);
        *upper = __float2half(b * c + a * s);
    }
}
extern "C" void rotary_embedding(__half *x, const float *cosine, const float *sine, int tokens, int heads, int half_dim, cudaStream_t stream)
{
    int64_t work = half_dim % 2 ? (int64_t)heads * half_dim : (int64_t)heads * (half_dim / 2), wanted = (work + 255) / 256;
    dim3 grid(tokens, (unsigned)(wanted < 65535 ? wanted : 65535));
    if (half_dim % 2)
        rotate_one<<<grid, 256, 0, stream>>>(x, cosine, sine, heads, half_dim);
    else
        rotate_two<<<grid, 256, 0, stream>>>(x, cosine, sine, heads, half_dim);
}
