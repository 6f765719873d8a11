// Right: a thread keeps cosine and sine of its column in registers and walks over the heads of its token, several at a time; columns by the grid's y, groups of heads by its z (strided). Each pair is one thread's.
#include <cstdint>
#include <cuda_fp16.h>
__global__ void rotate(__half *__restrict__ x, const float *__restrict__ cosine, const float *__restrict__ sine, int heads, int half_dim)
{
    int64_t token = blockIdx.x;
    for (int64_t i = (int64_t)blockIdx.y * 64 + threadIdx.x; i < half_dim; i += (int64_t)gridDim.y * 64) {
        float c = cosine[token * half_dim + i], s = sine[token * half_dim + i];
#pragma unroll 4
        for (int64_t head = blockIdx.z * 4 + threadIdx.y; head < heads; head += (int64_t)gridDim.z * 4) {
            __half *at = x + (token * heads + head) * 2 * half_dim + i;
            float a = __half2float(at[0]), b = __half2float(at[half_dim]);
            at[0] = __float2half(fmaf(a, c, -b * s));
            at[half_dim] = __float2half(fmaf(b, c, a * s));
        }
    }
}
extern "C" void rotary_embedding(__half *x, const float *cosine, const float *sine, int tokens, int heads, int half_dim, cudaStream_t stream)
{
    int columns = (half_dim - 1) / 64 + 1, groups = (heads - 1) / 16 + 1;
    dim3 grid(tokens, columns < 65535 ? columns : 65535, groups < 4096 ? groups : 4096);
    rotate<<<grid, dim3(64, 4), 0, stream>>>(x, cosine, sine, heads, half_dim);
}
