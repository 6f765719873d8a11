// expect: unsafe words race
// row 15: A thread for each element, in place: its partner is read and written by another.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void rotary_embedding_kernel(__half *x, const float *cosine, const float *sine, int tokens,
                                        int heads, int half_dim)
{
    int64_t pair = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / 2;
    bool upper = threadIdx.x & 1;
    if (pair >= (int64_t)tokens * heads * half_dim)
        return;
    int64_t i = pair % half_dim;
    int64_t head = pair / half_dim;
    int64_t token = head / heads;
    int64_t first = head * 2 * half_dim + i;

    float a = __half2float(x[first]);
    float b = __half2float(x[first + half_dim]);
    float c = cosine[token * half_dim + i];
    float s = sine[token * half_dim + i];
    if (!upper) x[first] = __float2half(a * c - b * s);
    else x[first + half_dim] = __float2half(b * c + a * s);
}

extern "C" void rotary_embedding(__half *x, const float *cosine, const float *sine, int tokens, int heads,
                                 int half_dim, cudaStream_t stream)
{
    int64_t pairs = (int64_t)tokens * heads * half_dim;
    unsigned blocks = (unsigned)((2 * pairs + 63) / 64);
    rotary_embedding_kernel<<<blocks, 64, 0, stream>>>(x, cosine, sine, tokens, heads, half_dim);
}
