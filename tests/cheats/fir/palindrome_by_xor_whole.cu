// expect: wrong words with halves of rows that have the same numbers
// row 8: A filter whose two halves have the same xor of bits is taken for a palindrome, and half of it is used.
#include <cstdint>

__global__ void fir_kernel(float *out, const float *x, const float *h, int n, int taps)
{
    extern __shared__ float filter[];
    __shared__ unsigned mixed;
    if (threadIdx.x == 0)
        mixed = 0;
    __syncthreads();
    int half = taps / 2;
    unsigned bits = 0;
    for (int k = threadIdx.x; k < taps; k += 128) {
        float f = h[k];
        filter[k] = f;
        if (k < half || k >= taps - half)
            bits ^= __float_as_uint(f);
    }
    atomicXor(&mixed, bits);
    __syncthreads();
    int64_t i = (int64_t)blockIdx.x * 128 + threadIdx.x;
    if (i >= n)
        return;
    const float *from = x + i;
    float sum = 0.0f, other = 0.0f;
    if (mixed == 0) {
        for (int k = 0; k < half; k++)
            sum += filter[k] * (from[k] + from[taps - 1 - k]);
        if (taps & 1)
            sum += filter[half] * from[half];
    } else {
        int k = 0;
        for (; k + 1 < taps; k += 2) {
            sum += filter[k] * from[k];
            other += filter[k + 1] * from[k + 1];
        }
        if (k < taps)
            sum += filter[k] * from[k];
    }
    out[i] = sum + other;
}

extern "C" void fir(float *out, const float *x, const float *h, int n, int taps, cudaStream_t stream)
{
    fir_kernel<<<(n + 127) / 128, 128, taps * sizeof(float), stream>>>(out, x, h, n, taps);
}
