// Rotates the pairs (x[i], x[half_dim + i]) of every head by the angle of its token and i, in place: eight pairs a
// step, and the angles kept for several heads. cosine and sine are [tokens, half_dim]; a head holds 2 * half_dim.
#include <cstdint>
#include <cuda_fp16.h>

constexpr int VEC = 8; // halves in 16 bytes

union vec8 {
    uint4 bits;
    __half2 pair[VEC / 2];
};

// An item: vector `part` of the heads group, group + groups, ... of a token.
template <int THREADS, int HEADS>
__global__ void __launch_bounds__(THREADS)
    rotary_vectors(uint4 *__restrict__ x, const float4 *__restrict__ cosine, const float4 *__restrict__ sine,
                   unsigned items, unsigned groups, unsigned parts)
{
    const unsigned item = blockIdx.x * THREADS + threadIdx.x;
    if (item >= items)
        return;
    const unsigned row = item / parts;
    const unsigned part = item - row * parts;
    const unsigned token = row / groups, group = row - token * groups;
    uint4 *first = x + ((uint64_t)token * (groups * HEADS) + group) * (2 * parts) + part;
    const uint64_t step = (uint64_t)groups * 2 * parts;
    vec8 a[HEADS], b[HEADS];
#pragma unroll
    for (int h = 0; h < HEADS; h++) {
        a[h].bits = __ldcs(first + h * step);
        b[h].bits = __ldcs(first + h * step + parts);
    }
    const uint64_t angle = ((uint64_t)token * parts + part) * 2;
    float c[VEC], s[VEC];
    *reinterpret_cast<float4 *>(c) = __ldg(cosine + angle);
    *reinterpret_cast<float4 *>(c + 4) = __ldg(cosine + angle + 1);
    *reinterpret_cast<float4 *>(s) = __ldg(sine + angle);
    *reinterpret_cast<float4 *>(s + 4) = __ldg(sine + angle + 1);
#pragma unroll
    for (int h = 0; h < HEADS; h++) {
        vec8 p, q;
#pragma unroll
        for (int k = 0; k < VEC / 2; k++) {
            const float2 f = __half22float2(a[h].pair[k]), g = __half22float2(b[h].pair[k]);
            p.pair[k] = __floats2half2_rn(f.x * c[2 * k] - g.x * s[2 * k], f.y * c[2 * k + 1] - g.y * s[2 * k + 1]);
            q.pair[k] = __floats2half2_rn(g.x * c[2 * k] + f.x * s[2 * k], g.y * c[2 * k + 1] + f.y * s[2 * k + 1]);
        }
        __stcs(first + h * step, p.bits);
        __stcs(first + h * step + parts, q.bits);
    }
}

// Where a head is 2 << shift vectors of a warp: a lane holds one of them, its partner 1 << shift lanes away the other of
// the pair, so that a warp touches memory in order.
template <int THREADS, int HEADS>
__global__ void __launch_bounds__(THREADS)
    rotary_shuffled(uint4 *__restrict__ x, const float4 *__restrict__ cosine, const float4 *__restrict__ sine,
                    unsigned items, unsigned groups, int shift)
{
    const unsigned item = blockIdx.x * THREADS + threadIdx.x;
    const bool mine = item < items;
    const unsigned row = item >> (shift + 1);
    const unsigned part = item & ((1u << shift) - 1);
    const bool second = item >> shift & 1;
    const unsigned token = row / groups, group = row - token * groups;
    uint4 *first = x + (((uint64_t)token * (groups * HEADS) + group) << (shift + 1)) + (item & ((2u << shift) - 1));
    const uint64_t step = (uint64_t)groups << (shift + 1);
    vec8 a[HEADS];
    float c[VEC] = {}, s[VEC] = {};
#pragma unroll
    for (int h = 0; h < HEADS; h++) {
        a[h].bits = make_uint4(0, 0, 0, 0);
        if (mine)
            a[h].bits = __ldcs(first + h * step);
    }
    if (mine) {
        const uint64_t angle = (((uint64_t)token << shift) + part) * 2;
        *reinterpret_cast<float4 *>(c) = __ldg(cosine + angle);
        *reinterpret_cast<float4 *>(c + 4) = __ldg(cosine + angle + 1);
        *reinterpret_cast<float4 *>(s) = __ldg(sine + angle);
        *reinterpret_cast<float4 *>(s + 4) = __ldg(sine + angle + 1);
    }
#pragma unroll
    for (int k = 0; k < VEC; k++)
        s[k] = second ? s[k] : -s[k];
#pragma unroll
    for (int h = 0; h < HEADS; h++) {
        vec8 b, p;
        b.bits.x = __shfl_xor_sync(0xffffffffu, a[h].bits.x, 1 << shift);
        b.bits.y = __shfl_xor_sync(0xffffffffu, a[h].bits.y, 1 << shift);
        b.bits.z = __shfl_xor_sync(0xffffffffu, a[h].bits.z, 1 << shift);
        b.bits.w = __shfl_xor_sync(0xffffffffu, a[h].bits.w, 1 << shift);
#pragma unroll
        for (int k = 0; k < VEC / 2; k++) {
            const float2 f = __half22float2(a[h].pair[k]), g = __half22float2(b.pair[k]);
            p.pair[k] = __floats2half2_rn(f.x * c[2 * k] + g.x * s[2 * k], f.y * c[2 * k + 1] + g.y * s[2 * k + 1]);
        }
        if (mine)
            __stcs(first + h * step, p.bits);
    }
}

__global__ void __launch_bounds__(256)
    rotary_scalar(__half *__restrict__ x, const float *__restrict__ cosine, const float *__restrict__ sine,
                  int64_t pairs, int heads, int half_dim)
{
    const int64_t pair = (int64_t)blockIdx.x * 256 + threadIdx.x;
    if (pair >= pairs)
        return;
    const int64_t head = pair / half_dim, i = pair - head * half_dim;
    const int64_t token = head / heads;
    const int64_t first = head * 2 * half_dim + i;
    const float a = __half2float(x[first]), b = __half2float(x[first + half_dim]);
    const float c = cosine[token * half_dim + i], s = sine[token * half_dim + i];
    x[first] = __float2half(a * c - b * s);
    x[first + half_dim] = __float2half(b * c + a * s);
}

template <int THREADS, int HEADS>
static void launch(__half *x, const float *cosine, const float *sine, int tokens, int heads, int parts, int shift,
                   cudaStream_t stream)
{
    const unsigned groups = heads / HEADS;
    const unsigned items = (unsigned)tokens * groups * parts;
    if (shift >= 0 && shift <= 4) {
        rotary_shuffled<THREADS, HEADS><<<(2 * items + THREADS - 1) / THREADS, THREADS, 0, stream>>>(
            (uint4 *)x, (const float4 *)cosine, (const float4 *)sine, 2 * items, groups, shift);
        return;
    }
    rotary_vectors<THREADS, HEADS><<<(items + THREADS - 1) / THREADS, THREADS, 0, stream>>>(
        (uint4 *)x, (const float4 *)cosine, (const float4 *)sine, items, groups, parts);
}

extern "C" void rotary_embedding(__half *x, const float *cosine, const float *sine, int tokens, int heads,
                                 int half_dim, cudaStream_t stream)
{
    const int64_t pairs = (int64_t)tokens * heads * half_dim;
    const bool aligned = half_dim % VEC == 0 && (uintptr_t)x % 16 == 0 && (uintptr_t)cosine % 16 == 0 &&
                         (uintptr_t)sine % 16 == 0;
    const int64_t items = pairs / VEC;
    if (!aligned || items > 0x3fff0000) {
        rotary_scalar<<<(unsigned)((pairs + 255) / 256), 256, 0, stream>>>(x, cosine, sine, pairs, heads, half_dim);
        return;
    }
    const int parts = half_dim / VEC;
    int shift = -1;
    for (int k = 0; k < 31; k++)
        if (parts == 1 << k)
            shift = k;
    if (items <= 132 * 64)
        launch<32, 1>(x, cosine, sine, tokens, heads, parts, shift, stream);
    else if (heads % 2 != 0)
        launch<128, 1>(x, cosine, sine, tokens, heads, parts, shift, stream);
    else if (heads % 4 != 0 || items <= 132 * 2048)
        launch<128, 2>(x, cosine, sine, tokens, heads, parts, shift, stream);
    else
        launch<128, 4>(x, cosine, sine, tokens, heads, parts, shift, stream);
}
