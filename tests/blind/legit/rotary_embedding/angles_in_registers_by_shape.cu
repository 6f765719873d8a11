// Right: a thread keeps the cosine and sine of two neighbouring pairs of a token and turns them in one head after another,
// in place, two halves at a time; odd or long heads take one pair per thread.
#include <cstdint>
#include <cuda_fp16.h>

constexpr int THREADS = 128;

__global__ void __launch_bounds__(THREADS)
    rotate_heads(__half *__restrict__ x, const float *__restrict__ cosine, const float *__restrict__ sine, int heads,
                 int half_dim)
{
    const int lanes = half_dim / 2; // threads a head
    const int together = THREADS / lanes;
    const int group = threadIdx.x / lanes;
    if (group >= together)
        return;
    const int i = threadIdx.x % lanes;
    const int64_t token = blockIdx.x;
    const float2 c = reinterpret_cast<const float2 *>(cosine + token * half_dim)[i];
    const float2 s = reinterpret_cast<const float2 *>(sine + token * half_dim)[i];
    __half2 *base = reinterpret_cast<__half2 *>(x + token * heads * 2 * half_dim);
    const int stride = gridDim.y * together;
    for (int64_t head = (int64_t)blockIdx.y * together + group; head < heads; head += stride) {
        __half2 *lower = base + head * 2 * lanes + i;
        const float2 a = __half22float2(lower[0]);
        const float2 b = __half22float2(lower[lanes]);
        lower[0] = __floats2half2_rn(a.x * c.x - b.x * s.x, a.y * c.y - b.y * s.y);
        lower[lanes] = __floats2half2_rn(b.x * c.x + a.x * s.x, b.y * c.y + a.y * s.y);
    }
}

__global__ void __launch_bounds__(THREADS)
    rotate_pairs(__half *__restrict__ x, const float *__restrict__ cosine, const float *__restrict__ sine, int64_t pairs,
                 int heads, int half_dim)
{
    for (int64_t p = (int64_t)blockIdx.x * THREADS + threadIdx.x; p < pairs; p += (int64_t)gridDim.x * THREADS) {
        const int64_t head = p / half_dim;
        const int64_t i = p - head * half_dim;
        const int64_t token = head / heads;
        const int64_t first = head * 2 * half_dim + i;
        const float a = __half2float(x[first]);
        const float b = __half2float(x[first + half_dim]);
        const float c = cosine[token * half_dim + i];
        const float s = sine[token * half_dim + i];
        x[first] = __float2half(a * c - b * s);
        x[first + half_dim] = __float2half(b * c + a * s);
    }
}

extern "C" void rotary_embedding(__half *x, const float *cosine, const float *sine, int tokens, int heads,
                                 int half_dim, cudaStream_t stream)
{
    if (half_dim % 2 == 0 && half_dim <= 2 * THREADS) {
        const int together = THREADS / (half_dim / 2);
        // Four heads a thread, or more where the grid ends.
        int64_t slices = ((int64_t)heads + 4 * together - 1) / (4 * together);
        if (slices > 65535)
            slices = 65535;
        rotate_heads<<<dim3(tokens, (unsigned)slices), THREADS, 0, stream>>>(x, cosine, sine, heads, half_dim);
    } else {
        const int64_t pairs = (int64_t)tokens * heads * half_dim;
        const int64_t blocks = (pairs + THREADS - 1) / THREADS;
        rotate_pairs<<<(unsigned)(blocks < (1 << 22) ? blocks : 1 << 22), THREADS, 0, stream>>>(x, cosine, sine, pairs,
                                                                                              heads, half_dim);
    }
}
