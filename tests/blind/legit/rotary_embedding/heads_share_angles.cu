// A thread keeps eight angles of its token and turns them through all heads of its share; half2 vectors, dim3 arithmetic.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void __launch_bounds__(128) wide_kernel(__half *x, const float *cosine, const float *sine, int heads, int half_dim, int groups, int per)
{
    const int lane = threadIdx.x % per, first = threadIdx.x / per, step = 128 / per;
    const int64_t token = blockIdx.x;
    for (int at = lane + (int)blockIdx.z * per; at < groups; at += per * gridDim.z) {
        const float4 *c4 = reinterpret_cast<const float4 *>(cosine + token * half_dim) + 2 * at;
        const float4 *s4 = reinterpret_cast<const float4 *>(sine + token * half_dim) + 2 * at;
        float c[8], s[8];
        *reinterpret_cast<float4 *>(c) = c4[0];
        *reinterpret_cast<float4 *>(c + 4) = c4[1];
        *reinterpret_cast<float4 *>(s) = s4[0];
        *reinterpret_cast<float4 *>(s + 4) = s4[1];
        for (int64_t h = (int64_t)blockIdx.y * step + first; h < heads; h += (int64_t)gridDim.y * step) {
            __half *head = x + (token * heads + h) * 2 * half_dim;
            uint4 u = reinterpret_cast<uint4 *>(head)[at], v = reinterpret_cast<uint4 *>(head + half_dim)[at];
            __half *a = reinterpret_cast<__half *>(&u), *b = reinterpret_cast<__half *>(&v);
#pragma unroll
            for (int j = 0; j < 8; j++) {
                float fa = __half2float(a[j]), fb = __half2float(b[j]);
                a[j] = __float2half(fa * c[j] - fb * s[j]);
                b[j] = __float2half(fb * c[j] + fa * s[j]);
            }
            reinterpret_cast<uint4 *>(head)[at] = u;
            reinterpret_cast<uint4 *>(head + half_dim)[at] = v;
        }
    }
}

__global__ void __launch_bounds__(128) plain_kernel(__half *x, const float *cosine, const float *sine, int64_t pairs, int heads, int half_dim)
{
    for (int64_t p = (int64_t)blockIdx.x * 128 + threadIdx.x; p < pairs; p += (int64_t)gridDim.x * 128) {
        int64_t head = p / half_dim, i = p - head * half_dim, angle = head / heads * half_dim + i;
        __half *at = x + head * 2 * half_dim + i;
        float a = __half2float(at[0]), b = __half2float(at[half_dim]), c = cosine[angle], s = sine[angle];
        at[0] = __float2half(a * c - b * s);
        at[half_dim] = __float2half(b * c + a * s);
    }
}

extern "C" void rotary_embedding(__half *x, const float *cosine, const float *sine, int tokens, int heads, int half_dim, cudaStream_t stream)
{
    if (half_dim % 8 == 0) {
        int groups = half_dim / 8, per = 1;
        while (per < 128 && per < groups)
            per *= 2;
        int64_t y = ((int64_t)heads + 128 / per - 1) / (128 / per);
        if (tokens >= 1024 && y > 4)
            y = (y + 3) / 4;
        dim3 grid(tokens, (unsigned)(y < 65535 ? y : 65535), 1);
        grid.z = (groups + per - 1) / per;
        if (grid.z > 1024)
            grid.z = 1024;
        wide_kernel<<<grid, 128, 0, stream>>>(x, cosine, sine, heads, half_dim, groups, per);
        return;
    }
    int64_t pairs = (int64_t)tokens * heads * half_dim, blocks = (pairs + 127) / 128;
    plain_kernel<<<(unsigned)(blocks < 1048576 ? blocks : 1048576), 128, 0, stream>>>(x, cosine, sine, pairs, heads, half_dim);
}
