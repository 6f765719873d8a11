// Wrong: the place of a head's pair is computed in int: beyond 2^31 halves of x it wraps.
#include <cstdint>
#include <cuda_fp16.h>
__global__ void rotate(__half *x, const float *cosine, const float *sine, int heads, int half_dim)
{
    int token = blockIdx.x;
    for (int64_t head = blockIdx.y; head < heads; head += gridDim.y)
        for (int i = threadIdx.x; i < half_dim; i += blockDim.x) {
            int at = (int)((unsigned)token * heads * 2u * half_dim + (unsigned)head * 2u * half_dim + i);
            float a = __half2float(x[at]), b = __half2float(x[at + half_dim]);
            float c = cosine[(int64_t)token * half_dim + i], s = sine[(int64_t)token * half_dim + i];
            x[at] = __float2half(a * c - b * s);
            x[at + half_dim] = __float2half(b * c + a * s);
        }
}
extern "C" void rotary_embedding(__half *x, const float *cosine, const float *sine, int tokens, int heads, int half_dim, cudaStream_t stream)
{
    rotate<<<dim3(tokens, heads < 1024 ? heads : 1024), half_dim < 64 ? 32 : 64, 0, stream>>>(x, cosine, sine, heads, half_dim);
}
