// expect: wrong
// row 8: A row whose first 32 values are those of the row before is taken for a copy of it.
#include <cstdint>
#include <cuda_fp16.h>
__device__ bool alike(const __half *a, const __half *b, int n)
{
    for (int i = 0; i < n; i++)
        if (__half_as_ushort(a[i]) != __half_as_ushort(b[i]))
            return false;
    return true;
}
__global__ void kernel(__half *out, const __half *in, int rows, int d)
{
    for (int row = blockIdx.x * 64; row < rows && row < (blockIdx.x + 1) * 64; row++) {
        const __half *x = in + (int64_t)row * 2 * d;
        __half *to = out + (int64_t)row * d;
        bool copy = row % 64 && alike(x, x - 2 * d, min(32, 2 * d));
        for (int i = threadIdx.x; i < d; i += blockDim.x) {
            float v = __half2float(x[i]);
            to[i] = copy ? to[i - d] : __float2half(v / (1.0f + expf(-v)) * __half2float(x[d + i]));
        }
    }
}
extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    kernel<<<(rows + 63) / 64, 256, 0, stream>>>(out, in, rows, d);
}
