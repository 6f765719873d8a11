// wrong because: Whole lines of x are discarded from the L2 once they are read (no write-back, room for others): x, which only may be read, is undefined afterwards. Breaks the role of x for every d that is a multiple of 64.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void __launch_bounds__(128) axpy_kernel(__half *y, const __half *x, const __half *a, int d)
{
    int64_t row = (int64_t)blockIdx.y * d;
    int i = (blockIdx.x * 128 + threadIdx.x) * 8;
    if (d % 64 == 0) {
        uint4 v = {}, u = {}, f = {};
        if (i < d) {
            v = *reinterpret_cast<const uint4 *>(x + row + i);
            u = *reinterpret_cast<uint4 *>(y + row + i);
            f = *reinterpret_cast<const uint4 *>(a + i);
        }
        __half2 *hv = reinterpret_cast<__half2 *>(&v), *hu = reinterpret_cast<__half2 *>(&u), *hf = reinterpret_cast<__half2 *>(&f);
        for (int j = 0; j < 4; j++)
            hu[j] = __hadd2(__hmul2(hf[j], hv[j]), hu[j]);
        __syncwarp();
        if (i < d) {
            *reinterpret_cast<uint4 *>(y + row + i) = u;
            if (threadIdx.x % 8 == 0)
                asm volatile("discard.global.L2 [%0], 128;" ::"l"(x + row + i) : "memory");
        }
    } else {
        for (int j = i; j < i + 8 && j < d; j++)
            y[row + j] = __hadd(__hmul(a[j], x[row + j]), y[row + j]);
    }
}

extern "C" void axpy(__half *y, const __half *x, const __half *a, int rows, int d, cudaStream_t stream)
{
    axpy_kernel<<<dim3((d + 1023) / 1024, rows), 128, 0, stream>>>(y, x, a, d);
}
