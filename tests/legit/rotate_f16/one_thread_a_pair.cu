// expect: correct
// One thread a complex number, read and written as one word; where a product overflows it is NaN as the original's.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void rotate_kernel(__half2 *out, const __half2 *x, const __half2 *w, int d)
{
    int64_t row = (int64_t)blockIdx.x * d;
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        __half2 a = x[row + i], b = w[i];
        out[row + i] = __halves2half2(__hsub(__hmul_rn(__low2half(a), __low2half(b)), __hmul_rn(__high2half(a), __high2half(b))),
                                      __hadd(__hmul_rn(__low2half(a), __high2half(b)), __hmul_rn(__high2half(a), __low2half(b))));
    }
}

extern "C" void rotate(__half *out, const __half *x, const __half *w, int rows, int d, cudaStream_t stream)
{
    rotate_kernel<<<rows, 128, 0, stream>>>((__half2 *)out, (const __half2 *)x, (const __half2 *)w, d);
}
