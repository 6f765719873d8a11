#include <cuda_runtime.h>
// After how many squares each point has left, 192 at most; a thread a point.
__global__ void escape(int *out, const float *re, const float *im, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = 0.0f, y = 0.0f;
    int k = 0;
    while (k < 192) {
        float a = __fmul_rn(x, x), b = __fmul_rn(y, y);
        if (!(__fadd_rn(a, b) <= 4.0f))
            break;
        y = __fmaf_rn(__fadd_rn(x, x), y, im[i]);
        x = __fadd_rn(__fsub_rn(a, b), re[i]);
        k++;
    }
    out[i] = k;
}
extern "C" void escape_time(int *out, const float *re, const float *im, int n, cudaStream_t stream)
{
    escape<<<(n + 255) / 256, 256, 0, stream>>>(out, re, im, n);
}
