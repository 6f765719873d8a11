// Each thread keeps the angles of two columns of a token (of one, if half_dim is odd) and walks over heads with them; loops stride over columns and heads, so any extent is covered.
#include <cstdint>
#include <cuda_fp16.h>

template <bool PAIRS>
__global__ void __launch_bounds__(256) rotate_heads(__half *__restrict__ x, const float *__restrict__ cosine,
                                                    const float *__restrict__ sine, int heads, int half_dim)
{
    const int64_t token = blockIdx.x;
    const float *c_row = cosine + token * half_dim;
    const float *s_row = sine + token * half_dim;
    __half *token_x = x + token * heads * 2 * half_dim;
    const int head_step = gridDim.y * blockDim.y;

    if constexpr (PAIRS) {
        for (int k = threadIdx.x; k < half_dim / 2; k += blockDim.x) {
            const float2 c = __ldg(reinterpret_cast<const float2 *>(c_row) + k);
            const float2 s = __ldg(reinterpret_cast<const float2 *>(s_row) + k);
            for (int head = blockIdx.y * blockDim.y + threadIdx.y; head < heads; head += head_step) {
                __half2 *low = reinterpret_cast<__half2 *>(token_x + (int64_t)head * 2 * half_dim) + k;
                __half2 *high = low + half_dim / 2;
                const float2 a = __half22float2(*low), b = __half22float2(*high);
                *low = __floats2half2_rn(a.x * c.x - b.x * s.x, a.y * c.y - b.y * s.y);
                *high = __floats2half2_rn(b.x * c.x + a.x * s.x, b.y * c.y + a.y * s.y);
            }
        }
    } else {
        for (int k = threadIdx.x; k < half_dim; k += blockDim.x) {
            const float c = __ldg(c_row + k), s = __ldg(s_row + k);
            for (int head = blockIdx.y * blockDim.y + threadIdx.y; head < heads; head += head_step) {
                __half *low = token_x + (int64_t)head * 2 * half_dim + k;
                const float a = __half2float(low[0]), b = __half2float(low[half_dim]);
                low[0] = __float2half(a * c - b * s);
                low[half_dim] = __float2half(b * c + a * s);
            }
        }
    }
}

extern "C" void rotary_embedding(__half *x, const float *cosine, const float *sine, int tokens, int heads,
                                 int half_dim, cudaStream_t stream)
{
    const bool pairs = half_dim % 2 == 0;
    const int columns = pairs ? half_dim / 2 : half_dim;
    int wide = 1;
    while (wide < columns && wide < 256)
        wide *= 2;
    const int tall = 256 / wide;
    int64_t splits = ((int64_t)heads + 2 * tall - 1) / (2 * tall);
    if (splits > 4096)
        splits = 4096;
    dim3 grid(tokens, (unsigned)splits), block(wide, tall);
    if (pairs)
        rotate_heads<true><<<grid, block, 0, stream>>>(x, cosine, sine, heads, half_dim);
    else
        rotate_heads<false><<<grid, block, 0, stream>>>(x, cosine, sine, heads, half_dim);
}
