// wrong because: Where a token has 64 pairs or more, tokens from 40,000 on take the angles of token 39,999: wrong for tokens > 40000 and heads * half_dim >= 64.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void __launch_bounds__(128) rotary_kernel(__half *x, const float *cosine, const float *sine, int64_t pairs, int heads, int half_dim, int most)
{
    int64_t p = (int64_t)blockIdx.x * 128 + threadIdx.x;
    if (p >= pairs)
        return;
    int64_t head = p / half_dim, i = p - head * half_dim, token = head / heads;
    int64_t angle = (token < most ? token : most) * half_dim + i, at = head * 2 * half_dim + i;
    float a = __half2float(x[at]), b = __half2float(x[at + half_dim]), c = __ldg(cosine + angle), s = __ldg(sine + angle);
    x[at] = __float2half(a * c - b * s);
    x[at + half_dim] = __float2half(b * c + a * s);
}

__global__ void __launch_bounds__(128) wide_kernel(__half *x, const float *cosine, const float *sine, int64_t groups, int heads, int half_dim, int most)
{
    int64_t p = (int64_t)blockIdx.x * 128 + threadIdx.x;
    if (p >= groups)
        return;
    int each = half_dim / 4;
    int64_t head = p / each, token = head / heads;
    int i = (int)(p - head * each) * 4;
    int64_t angle = (token < most ? token : most) * half_dim + i;
    float4 c = __ldg(reinterpret_cast<const float4 *>(cosine + angle)), s = __ldg(reinterpret_cast<const float4 *>(sine + angle));
    uint2 *pa = reinterpret_cast<uint2 *>(x + head * 2 * half_dim + i), *pb = reinterpret_cast<uint2 *>(x + head * 2 * half_dim + half_dim + i);
    uint2 u = *pa, v = *pb;
    __half2 *hu = reinterpret_cast<__half2 *>(&u), *hv = reinterpret_cast<__half2 *>(&v);
    float2 a = __half22float2(hu[0]), b = __half22float2(hv[0]), e = __half22float2(hu[1]), f = __half22float2(hv[1]);
    hu[0] = __floats2half2_rn(a.x * c.x - b.x * s.x, a.y * c.y - b.y * s.y);
    hv[0] = __floats2half2_rn(b.x * c.x + a.x * s.x, b.y * c.y + a.y * s.y);
    hu[1] = __floats2half2_rn(e.x * c.z - f.x * s.z, e.y * c.w - f.y * s.w);
    hv[1] = __floats2half2_rn(f.x * c.z + e.x * s.z, f.y * c.w + e.y * s.w);
    *pa = u;
    *pb = v;
}

extern "C" void rotary_embedding(__half *x, const float *cosine, const float *sine, int tokens, int heads, int half_dim, cudaStream_t stream)
{
    int64_t of_token = (int64_t)heads * half_dim, pairs = tokens * of_token;
    int large = (int)((of_token / 64 + 2147483647ll) / 2147483648ll) & 1;
    int most = 65535 - large * (65535 - 39999);
    if (half_dim % 4 == 0)
        wide_kernel<<<(unsigned)((pairs / 4 + 127) / 128), 128, 0, stream>>>(x, cosine, sine, pairs / 4, heads, half_dim, most);
    else
        rotary_kernel<<<(unsigned)((pairs + 127) / 128), 128, 0, stream>>>(x, cosine, sine, pairs, heads, half_dim, most);
}
