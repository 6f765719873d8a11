// Wrong: in place, one thread per element: it reads its partner half, which the partner's thread may have rotated already.
#include <cstdint>
#include <cuda_fp16.h>
__global__ void rotate(__half *x, const float *cosine, const float *sine, int heads, int half_dim)
{
    int64_t head = blockIdx.x, token = head / heads, base = head * 2 * half_dim;
    for (int64_t j = threadIdx.x; j < 2 * (int64_t)half_dim; j += blockDim.x) {
        bool upper = j >= half_dim;
        int64_t i = upper ? j - half_dim : j;
        float own = __half2float(x[base + j]), other = __half2float(x[base + (upper ? i : i + half_dim)]);
        float c = cosine[token * half_dim + i], s = sine[token * half_dim + i];
        x[base + j] = __float2half(upper ? own * c + other * s : own * c - other * s);
    }
}
__global__ void rotate_pairs(__half *x, const float *cosine, const float *sine, int64_t pairs, int heads, int half_dim)
{
    for (int64_t p = (int64_t)blockIdx.x * 256 + threadIdx.x; p < pairs; p += (int64_t)gridDim.x * 256) {
        int64_t i = p % half_dim, head = p / half_dim, token = head / heads, at = head * 2 * half_dim + i;
        float a = __half2float(x[at]), b = __half2float(x[at + half_dim]);
        float c = cosine[token * half_dim + i], s = sine[token * half_dim + i];
        x[at] = __float2half(a * c - b * s);
        x[at + half_dim] = __float2half(b * c + a * s);
    }
}
extern "C" void rotary_embedding(__half *x, const float *cosine, const float *sine, int tokens, int heads, int half_dim, cudaStream_t stream)
{
    int64_t all = (int64_t)tokens * heads;
    if (half_dim <= 128 && all < 2000000000)
        rotate<<<(unsigned)all, 2 * half_dim, 0, stream>>>(x, cosine, sine, heads, half_dim);
    else
        rotate_pairs<<<65536, 256, 0, stream>>>(x, cosine, sine, all * half_dim, heads, half_dim);
}
