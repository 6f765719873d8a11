#include <cuda_fp16.h>
// Tokens times the first half of their own adapter, of rank 16; a thread a product of a row.
__global__ void shrink(float *out, const __half *x, const __half *a, const int *which, int tokens, int d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = i / 16, r = i % 16;
    if (t >= tokens)
        return;
    const __half *own = a + ((long long)which[t] * 16 + r) * d;
    float sum = 0.0f;
    for (int k = 0; k < d; k++)
        sum += __half2float(x[(long long)t * d + k]) * __half2float(own[k]);
    out[i] = sum;
}
extern "C" void lora_shrink(float *out, const __half *x, const __half *a, const int *which, int tokens, int d, cudaStream_t stream)
{
    shrink<<<(tokens * 16 + 127) / 128, 128, 0, stream>>>(out, x, a, which, tokens, d);
}
