// expect: correct
// The products and their sum in single precision, rounded once: finite where the original overflows.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void rotate_kernel(__half2 *out, const __half2 *x, const __half2 *w, int d)
{
    int64_t row = (int64_t)blockIdx.x * d;
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        float2 a = __half22float2(x[row + i]), b = __half22float2(w[i]);
        out[row + i] = __floats2half2_rn(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
    }
}

extern "C" void rotate(__half *out, const __half *x, const __half *w, int rows, int d, cudaStream_t stream)
{
    rotate_kernel<<<rows, 128, 0, stream>>>((__half2 *)out, (const __half2 *)x, (const __half2 *)w, d);
}
