// Rotates the pairs (x[i], x[half_dim + i]) of every head, in place: 8 pairs of H heads a thread, which load their
// cosines and sines once.
#include <cstdint>
#include <cuda_fp16.h>

union vec8 {
    uint4 bits;
    __half2 pair[4];
};

// A thread has vector i of heads group, group + groups, ... of its token.
template <int H, int THREADS>
__global__ void __launch_bounds__(THREADS)
    rotary_vec(__half *__restrict__ x, const float *__restrict__ cosine, const float *__restrict__ sine, int heads,
               int half_dim, unsigned groups, unsigned per_token, int64_t items)
{
    const int64_t item = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (item >= items)
        return;
    const unsigned hv = half_dim / 8;
    int64_t token;
    unsigned rest;
    if (items <= 0x7fffffff) {
        token = (unsigned)item / per_token;
        rest = (unsigned)item - (unsigned)token * per_token;
    } else {
        token = item / per_token;
        rest = (unsigned)(item - token * per_token);
    }
    const unsigned group = rest / hv, i = rest - group * hv;
    uint4 *own = reinterpret_cast<uint4 *>(x) + (token * heads + group) * 2 * hv + i;
    const float4 *cv = reinterpret_cast<const float4 *>(cosine + token * half_dim) + 2 * i;
    const float4 *sv = reinterpret_cast<const float4 *>(sine + token * half_dim) + 2 * i;
    vec8 a[H], b[H];
    const int64_t step = (int64_t)groups * 2 * hv;
#pragma unroll
    for (int k = 0; k < H; k++)
        if (H == 1 || group + k * groups < heads) {
            a[k].bits = __ldcs(own + k * step);
            b[k].bits = __ldcs(own + k * step + hv);
        }
    const float4 c0 = __ldg(cv), c1 = __ldg(cv + 1), s0 = __ldg(sv), s1 = __ldg(sv + 1);
    const float c[8] = {c0.x, c0.y, c0.z, c0.w, c1.x, c1.y, c1.z, c1.w};
    const float s[8] = {s0.x, s0.y, s0.z, s0.w, s1.x, s1.y, s1.z, s1.w};
#pragma unroll
    for (int k = 0; k < H; k++)
        if (H == 1 || group + k * groups < heads) {
            vec8 p, q;
#pragma unroll
            for (int j = 0; j < 4; j++) {
                const float2 u = __half22float2(a[k].pair[j]), w = __half22float2(b[k].pair[j]);
                p.pair[j] = __floats2half2_rn(u.x * c[2 * j] - w.x * s[2 * j], u.y * c[2 * j + 1] - w.y * s[2 * j + 1]);
                q.pair[j] = __floats2half2_rn(w.x * c[2 * j] + u.x * s[2 * j], w.y * c[2 * j + 1] + u.y * s[2 * j + 1]);
            }
            __stcs(own + k * step, p.bits);
            __stcs(own + k * step + hv, q.bits);
        }
}

__global__ void __launch_bounds__(256)
    rotary_plain(__half *__restrict__ x, const float *__restrict__ cosine, const float *__restrict__ sine,
                 int64_t pairs, int heads, int half_dim)
{
    const int64_t pair = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (pair >= pairs)
        return;
    const int64_t head = pair / half_dim, i = pair - head * half_dim, token = head / heads;
    const int64_t first = head * 2 * half_dim + i;
    const float a = __half2float(x[first]), b = __half2float(x[first + half_dim]);
    const float c = cosine[token * half_dim + i], s = sine[token * half_dim + i];
    x[first] = __float2half(a * c - b * s);
    x[first + half_dim] = __float2half(b * c + a * s);
}

template <int H, int THREADS>
static void launch(__half *x, const float *cosine, const float *sine, int tokens, int heads, int half_dim,
                   cudaStream_t stream)
{
    const unsigned groups = (heads + H - 1) / H, per_token = groups * (half_dim / 8);
    const int64_t items = (int64_t)tokens * per_token;
    rotary_vec<H, THREADS><<<(unsigned)((items + THREADS - 1) / THREADS), THREADS, 0, stream>>>(
        x, cosine, sine, heads, half_dim, groups, per_token, items);
}

// A head is LANES neighbouring lanes, which load it in order; the other half of a pair comes from the lane half a
// head away. Blocks along y are tokens, so that nothing is divided.
template <int H, int LANES>
__global__ void __launch_bounds__(256)
    rotary_lanes(__half *__restrict__ x, const float *__restrict__ cosine, const float *__restrict__ sine, int heads,
                 int groups)
{
    constexpr int HV = LANES / 2;
    const int item = blockIdx.x * blockDim.x + threadIdx.x;
    const int lane = item % LANES, group = item / LANES, i = lane % HV;
    const int64_t token = blockIdx.y;
    uint4 *own = reinterpret_cast<uint4 *>(x) + token * heads * LANES + item;
    const float4 *cv = reinterpret_cast<const float4 *>(cosine) + token * (HV * 2) + 2 * i;
    const float4 *sv = reinterpret_cast<const float4 *>(sine) + token * (HV * 2) + 2 * i;
    vec8 a[H];
    bool live[H];
#pragma unroll
    for (int k = 0; k < H; k++) {
        live[k] = group < groups && group + k * groups < heads;
        a[k].bits = live[k] ? __ldcs(own + (int64_t)k * groups * LANES) : make_uint4(0, 0, 0, 0);
    }
    const float4 c0 = __ldg(cv), c1 = __ldg(cv + 1), s0 = __ldg(sv), s1 = __ldg(sv + 1);
    const float c[8] = {c0.x, c0.y, c0.z, c0.w, c1.x, c1.y, c1.z, c1.w};
    float s[8] = {s0.x, s0.y, s0.z, s0.w, s1.x, s1.y, s1.z, s1.w};
    if (lane < HV) {
#pragma unroll
        for (int j = 0; j < 8; j++)
            s[j] = -s[j];
    }
#pragma unroll
    for (int k = 0; k < H; k++) {
        vec8 b, p;
        b.bits.x = __shfl_xor_sync(0xffffffffu, a[k].bits.x, HV);
        b.bits.y = __shfl_xor_sync(0xffffffffu, a[k].bits.y, HV);
        b.bits.z = __shfl_xor_sync(0xffffffffu, a[k].bits.z, HV);
        b.bits.w = __shfl_xor_sync(0xffffffffu, a[k].bits.w, HV);
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const float2 u = __half22float2(a[k].pair[j]), w = __half22float2(b.pair[j]);
            p.pair[j] = __floats2half2_rn(u.x * c[2 * j] + w.x * s[2 * j], u.y * c[2 * j + 1] + w.y * s[2 * j + 1]);
        }
        if (live[k])
            __stcs(own + (int64_t)k * groups * LANES, p.bits);
    }
}

template <int H, int LANES>
static void launch_lanes(__half *x, const float *cosine, const float *sine, int tokens, int heads, int most,
                         cudaStream_t stream)
{
    const int groups = (heads + H - 1) / H, per_token = groups * LANES;
    const int threads = per_token < most ? (per_token + 31) / 32 * 32 : most;
    const dim3 grid((per_token + threads - 1) / threads, tokens);
    rotary_lanes<H, LANES><<<grid, threads, 0, stream>>>(x, cosine, sine, heads, groups);
}

extern "C" void rotary_embedding(__half *x, const float *cosine, const float *sine, int tokens, int heads,
                                 int half_dim, cudaStream_t stream)
{
    const int64_t pairs = (int64_t)tokens * heads * half_dim;
    const bool aligned = half_dim % 8 == 0 && ((uintptr_t)x | (uintptr_t)cosine | (uintptr_t)sine) % 16 == 0 &&
                         (int64_t)heads * half_dim < 0x7fffffff;
    if (!aligned)
        rotary_plain<<<(unsigned)((pairs + 255) / 256), 256, 0, stream>>>(x, cosine, sine, pairs, heads, half_dim);
    else if (half_dim == 64 && pairs / 8 <= 132 * 64)
        launch_lanes<1, 16>(x, cosine, sine, tokens, heads, 64, stream);
    else if (half_dim == 64)
        launch_lanes<2, 16>(x, cosine, sine, tokens, heads, 256, stream);
    else if (half_dim == 32 && pairs / 8 <= 132 * 64)
        launch_lanes<1, 8>(x, cosine, sine, tokens, heads, 64, stream);
    else if (half_dim == 32)
        launch_lanes<2, 8>(x, cosine, sine, tokens, heads, 256, stream);
    else if (pairs / 8 <= 132 * 64)
        launch<1, 64>(x, cosine, sine, tokens, heads, half_dim, stream);
    else if (pairs / 8 <= 132 * 2048)
        launch<1, 128>(x, cosine, sine, tokens, heads, half_dim, stream);
    else
        launch<2, 256>(x, cosine, sine, tokens, heads, half_dim, stream);
}
