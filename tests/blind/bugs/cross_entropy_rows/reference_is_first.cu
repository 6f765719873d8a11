// WRONG: exponentials are taken from the row's first logit, in one pass, again from the largest only if that overflows; where the label's logit lies 60 above the first, log(sum) + first - logit cancels and the loss has 4e-6 of error in place of its digits.
#include <cstdint>
#include <math_constants.h>

__device__ float sum_or_max(float x, bool max, float *s)
{
    for (int k = 16; k; k >>= 1) {
        float o = __shfl_xor_sync(~0u, x, k);
        x = max ? fmaxf(x, o) : x + o;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        s[threadIdx.x / 32] = x;
    __syncthreads();
    x = s[0];
    for (int w = 1; w < 16; w++)
        x = max ? fmaxf(x, s[w]) : x + s[w];
    return x;
}

__global__ void loss_kernel(float *loss, const float *logits, const int *label, int d)
{
    __shared__ float s[16];
    const float *row = logits + (int64_t)blockIdx.x * d;
    float reference = row[0], sum = 0.f;
    for (int i = threadIdx.x; i < d; i += 512)
        sum += expf(row[i] - reference);
    sum = sum_or_max(sum, false, s);
    if (!(sum < CUDART_INF_F)) {
        reference = -CUDART_INF_F;
        for (int i = threadIdx.x; i < d; i += 512)
            reference = fmaxf(reference, row[i]);
        reference = sum_or_max(reference, true, s);
        sum = 0.f;
        for (int i = threadIdx.x; i < d; i += 512)
            sum += expf(row[i] - reference);
        sum = sum_or_max(sum, false, s);
    }
    if (threadIdx.x == 0)
        loss[blockIdx.x] = logf(sum) + (reference - row[label[blockIdx.x]]);
}

extern "C" void cross_entropy(float *loss, const float *logits, const int *label, int rows, int d, cudaStream_t stream)
{
    loss_kernel<<<rows, 512, 0, stream>>>(loss, logits, label, d);
}
