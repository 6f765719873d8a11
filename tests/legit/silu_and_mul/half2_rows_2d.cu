// expect: correct
// Pairs on a grid of two dimensions.
#include <cuda_fp16.h>
// Blocks of 32 x 8: a warp a row.
constexpr int WARPS = 8;
template <typename T> constexpr T ceil_div(T a, T b) { return (a + b - 1) / b; }

__global__ void kernel(half *out, const half *in, int rows, int d)
{
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row < rows) {
        const half *src = &in[(long)row * d * 2];
        half *dst = &out[(long)row * d];
        if ((d & 1) == 0) {
            const half2 *a = (const half2 *)src, *b = (const half2 *)(src + d);
            half2 *c = (half2 *)dst;
#pragma unroll 4
            for (int i = threadIdx.x; i < d / 2; i += 32) {
                float lo = __low2float(a[i]), hi = __high2float(a[i]);
                lo = lo / (1.0f + expf(-lo));
                hi = hi / (1.0f + expf(-hi));
                c[i] = __halves2half2(__float2half(lo * __low2float(b[i])), __float2half(hi * __high2float(b[i])));
            }
        } else {
#pragma unroll 1
            for (int i = threadIdx.x; i < d; i += 32) {
                float v = (float)src[i];
                dst[i] = (half)(v / (1.0f + expf(-v)) * (float)src[i + d]);
            }
        }
    }
}

extern "C" void silu_and_mul(half *out, const half *in, int rows, int d, cudaStream_t stream)
{
    kernel<<<ceil_div(rows, WARPS), dim3(32, WARPS), 0, stream>>>(out, in, rows, d);
}
