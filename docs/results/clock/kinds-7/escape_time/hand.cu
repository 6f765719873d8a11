#include <cuda_runtime.h>
// Four squares between two questions whether all of a warp have left; a point that has left counts no more.
__global__ void escape(int *__restrict__ out, const float *__restrict__ re, const float *__restrict__ im, int n)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    bool inside = i < n, stays = inside;
    float cx = inside ? re[i] : 0.0f, cy = inside ? im[i] : 0.0f, x = 0.0f, y = 0.0f;
    int count = 0;
    for (int k = 0; k < 192 && __any_sync(~0u, stays); k += 4) {
#pragma unroll
        for (int q = 0; q < 4; q++) {
            float a = __fmul_rn(x, x), b = __fmul_rn(y, y);
            stays = stays && __fadd_rn(a, b) <= 4.0f;
            count += stays;
            y = __fmaf_rn(__fadd_rn(x, x), y, cy);
            x = __fadd_rn(__fsub_rn(a, b), cx);
        }
    }
    if (inside)
        out[i] = count;
}
extern "C" void escape_time(int *out, const float *re, const float *im, int n, cudaStream_t stream)
{
    escape<<<(n + 127) / 128, 128, 0, stream>>>(out, re, im, n);
}
