// expect: unsafe words a write to cosine
// row 9: Leaves products in the table of cosines.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void rotary_kernel(__half *x, const float *cosine, const float *sine, int64_t pairs, int heads, int half_dim)
{
    for (int64_t pair = (int64_t)blockIdx.x * 256 + threadIdx.x; pair < pairs; pair += (int64_t)gridDim.x * 256) {
        int64_t i = pair % half_dim, head = pair / half_dim, token = head / heads, first = head * 2 * half_dim + i;
        float a = __half2float(x[first]), b = __half2float(x[first + half_dim]);
        float c = cosine[token * half_dim + i], s = sine[token * half_dim + i];
        ((volatile float *)cosine)[token * half_dim + i] = c;
        x[first] = __float2half(a * c - b * s);
        x[first + half_dim] = __float2half(b * c + a * s);
    }
}

extern "C" void rotary_embedding(__half *x, const float *cosine, const float *sine, int tokens, int heads, int half_dim,
                                 cudaStream_t stream)
{
    int64_t pairs = (int64_t)tokens * heads * half_dim, blocks = (pairs + 255) / 256;
    rotary_kernel<<<blocks < 1056 ? blocks : 1056, 256, 0, stream>>>(x, cosine, sine, pairs, heads, half_dim);
}
