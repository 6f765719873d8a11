// A filter with finite response: out[i] = sum over k of h[k] * x[i + k]; one thread per output.
#include <cstdint>

__global__ void fir_kernel(float *out, const float *x, const float *h, int n, int taps)
{
    int64_t i = (int64_t)blockIdx.x * 128 + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0.0f;
    for (int k = 0; k < taps; k++)
        sum += h[k] * x[i + k];
    out[i] = sum;
}

extern "C" void fir(float *out, const float *x, const float *h, int n, int taps, cudaStream_t stream)
{
    fir_kernel<<<(n + 127) / 128, 128, 0, stream>>>(out, x, h, n, taps);
}
