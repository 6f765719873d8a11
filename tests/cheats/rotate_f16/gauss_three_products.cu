// expect: wrong words parts of opposed sizes
// row 10: A complex product by three real ones, in single: a large and a small number against a small and a large one cancel.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void rotate_kernel(__half2 *out, const __half2 *x, const __half2 *w, int d)
{
    int64_t row = (int64_t)blockIdx.y * d;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < d; i += gridDim.x * blockDim.x) {
        float2 a = __half22float2(x[row + i]), b = __half22float2(w[i]);
        float k1 = b.x * (a.x + a.y), k2 = a.x * (b.y - b.x), k3 = a.y * (b.x + b.y);
        out[row + i] = __floats2half2_rn(k1 - k3, k1 + k2);
    }
}

extern "C" void rotate(__half *out, const __half *x, const __half *w, int rows, int d, cudaStream_t stream)
{
    int64_t blocks = ((int64_t)d + 255) / 256;
    rotate_kernel<<<dim3(blocks < 4096 ? (unsigned)blocks : 4096u, rows), 256, 0, stream>>>(
        (__half2 *)out, (const __half2 *)x, (const __half2 *)w, d);
}
