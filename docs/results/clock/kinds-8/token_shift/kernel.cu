#include <cuda_runtime.h>
// Each token's channels mixed with those of the token before it; a thread a channel of a token.
__global__ void shift(float *out, const float *x, const float *mix, int steps, int d, long long all)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= all)
        return;
    int c = i % d, t = i / d % steps;
    float before = t > 0 ? x[i - d] : 0.0f;
    out[i] = x[i] * mix[c] + before * (1.0f - mix[c]);
}
extern "C" void token_shift(float *out, const float *x, const float *mix, int batch, int steps, int d, cudaStream_t stream)
{
    long long all = (long long)batch * steps * d;
    shift<<<(unsigned)((all + 255) / 256), 256, 0, stream>>>(out, x, mix, steps, d, all);
}
