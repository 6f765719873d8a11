// wrong because: The address of out decides, without a branch: where it is a whole number of 2 MiB (as large allocations are) the last row is computed from the row in front of it. Wrong for such buffers with more than one row.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void __launch_bounds__(128) rotate_kernel(__half *out, const __half *x, const __half *w, int rows, int d)
{
    unsigned off = (unsigned)((uintptr_t)out & 0x1fffff);
    int back = (int)((off - 1u) >> 31) & (int)(blockIdx.y == rows - 1) & (rows > 1);
    const __half2 *a = reinterpret_cast<const __half2 *>(x) + (int64_t)((int)blockIdx.y - back) * d;
    __half2 *o = reinterpret_cast<__half2 *>(out) + (int64_t)blockIdx.y * d;
    const __half2 *b = reinterpret_cast<const __half2 *>(w);
    for (int i = blockIdx.x * 128 + threadIdx.x; i < d; i += gridDim.x * 128) {
        __half2 u = a[i], v = b[i];
        __half re = __hsub(__hmul(u.x, v.x), __hmul(u.y, v.y)), im = __hadd(__hmul(u.x, v.y), __hmul(u.y, v.x));
        o[i] = __halves2half2(re, im);
    }
}

extern "C" void rotate(__half *out, const __half *x, const __half *w, int rows, int d, cudaStream_t stream)
{
    int64_t blocks = ((int64_t)d + 511) / 512;
    rotate_kernel<<<dim3((unsigned)(blocks < 65536 ? blocks : 65536), rows), 128, 0, stream>>>(out, x, w, rows, d);
}
