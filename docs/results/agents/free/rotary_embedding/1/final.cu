// Rotates the pairs (x[i], x[half_dim + i]) of every head, in place; W pairs a thread.
#include <cstdint>
#include <cuda_fp16.h>

template <int W> struct Pack;
template <> struct Pack<8> { typedef uint4 T; };
template <> struct Pack<4> { typedef uint2 T; };

template <int W, typename I>
__global__ void __launch_bounds__(256) rotary_vector(__half *__restrict__ x, const float *__restrict__ cosine, const float *__restrict__ sine,
                              I total, unsigned heads, unsigned half_dim)
{
    typedef typename Pack<W>::T V;
    I n = (I)blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= total)
        return;
    unsigned per = half_dim / W;
    I head = n / per;
    unsigned i = (unsigned)(n - head * per) * W;
    I token = head / heads;
    V *p = reinterpret_cast<V *>(x + (int64_t)head * 2 * half_dim + i);
    V *q = reinterpret_cast<V *>(x + (int64_t)head * 2 * half_dim + half_dim + i);
    V a = __ldcs(p), b = __ldcs(q);
    const float4 *cp = reinterpret_cast<const float4 *>(cosine + (int64_t)token * half_dim + i);
    const float4 *sp = reinterpret_cast<const float4 *>(sine + (int64_t)token * half_dim + i);
    float4 c[W / 4], s[W / 4];
#pragma unroll
    for (int k = 0; k < W / 4; k++) {
        c[k] = __ldg(cp + k);
        s[k] = __ldg(sp + k);
    }
    __half2 *ah = reinterpret_cast<__half2 *>(&a), *bh = reinterpret_cast<__half2 *>(&b);
#pragma unroll
    for (int k = 0; k < W / 2; k++) {
        float2 u = __half22float2(ah[k]), v = __half22float2(bh[k]);
        float c0 = k % 2 ? c[k / 2].z : c[k / 2].x, c1 = k % 2 ? c[k / 2].w : c[k / 2].y;
        float s0 = k % 2 ? s[k / 2].z : s[k / 2].x, s1 = k % 2 ? s[k / 2].w : s[k / 2].y;
        ah[k] = __floats2half2_rn(u.x * c0 - v.x * s0, u.y * c1 - v.y * s1);
        bh[k] = __floats2half2_rn(v.x * c0 + u.x * s0, v.y * c1 + u.y * s1);
    }
    __stcs(p, a);
    __stcs(q, b);
}

// One access of 16 bytes a thread: the other half of the pairs is with the lane half_dim / 8 further.
__global__ void __launch_bounds__(256) rotary_shuffle(uint4 *__restrict__ x, const float *__restrict__ cosine, const float *__restrict__ sine,
                              unsigned total, unsigned heads, unsigned per)
{
    unsigned n = blockIdx.x * blockDim.x + threadIdx.x;
    bool valid = n < total;
    unsigned head = n / (2 * per), i = n % per;
    bool upper = n & per;
    unsigned token = head / heads;
    uint4 a = make_uint4(0, 0, 0, 0);
    float4 c[2], s[2];
    if (valid) {
        a = __ldcs(x + n);
        int64_t t = ((int64_t)token * per + i) * 2;
        c[0] = __ldg(reinterpret_cast<const float4 *>(cosine) + t);
        c[1] = __ldg(reinterpret_cast<const float4 *>(cosine) + t + 1);
        s[0] = __ldg(reinterpret_cast<const float4 *>(sine) + t);
        s[1] = __ldg(reinterpret_cast<const float4 *>(sine) + t + 1);
    }
    uint4 b;
    b.x = __shfl_xor_sync(~0u, a.x, per);
    b.y = __shfl_xor_sync(~0u, a.y, per);
    b.z = __shfl_xor_sync(~0u, a.z, per);
    b.w = __shfl_xor_sync(~0u, a.w, per);
    if (!valid)
        return;
    __half2 *ah = reinterpret_cast<__half2 *>(&a), *bh = reinterpret_cast<__half2 *>(&b);
#pragma unroll
    for (int k = 0; k < 4; k++) {
        float2 u = __half22float2(ah[k]), v = __half22float2(bh[k]);
        float c0 = k % 2 ? c[k / 2].z : c[k / 2].x, c1 = k % 2 ? c[k / 2].w : c[k / 2].y;
        float s0 = k % 2 ? s[k / 2].z : s[k / 2].x, s1 = k % 2 ? s[k / 2].w : s[k / 2].y;
        float p = upper ? s0 : -s0, q = upper ? s1 : -s1;
        ah[k] = __floats2half2_rn(u.x * c0 + v.x * p, u.y * c1 + v.y * q);
    }
    __stcs(x + n, a);
}

__global__ void rotary_scalar(__half *__restrict__ x, const float *__restrict__ cosine, const float *__restrict__ sine,
                              int64_t total, int heads, int half_dim)
{
    int64_t pair = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (pair >= total)
        return;
    int64_t head = pair / half_dim;
    int64_t i = pair - head * half_dim;
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
    bool aligned = (((uintptr_t)x | (uintptr_t)cosine | (uintptr_t)sine) & 15) == 0;
    if (!aligned || half_dim % 8 != 0) {
        rotary_scalar<<<(unsigned)((pairs + 255) / 256), 256, 0, stream>>>(x, cosine, sine, pairs, heads, half_dim);
    } else if (half_dim <= 32 && (half_dim & (half_dim - 1)) == 0 && pairs < 0x3fff0000) {
        unsigned n = (unsigned)(pairs / 4);
        int threads = n < 132 * 256 ? 64 : 256;
        rotary_shuffle<<<(n + threads - 1) / threads, threads, 0, stream>>>((uint4 *)x, cosine, sine, n, heads, half_dim / 8);
    } else if (pairs < 132 * 1024) {
        unsigned n = (unsigned)(pairs / 4);
        rotary_vector<4, unsigned><<<(n + 63) / 64, 64, 0, stream>>>(x, cosine, sine, n, heads, half_dim);
    } else {
        int64_t n = pairs / 8;
        unsigned blocks = (unsigned)((n + 255) / 256);
        if (n < 0x7fff0000)
            rotary_vector<8, unsigned><<<blocks, 256, 0, stream>>>(x, cosine, sine, (unsigned)n, heads, half_dim);
        else
            rotary_vector<8, int64_t><<<blocks, 256, 0, stream>>>(x, cosine, sine, n, heads, half_dim);
    }
}
