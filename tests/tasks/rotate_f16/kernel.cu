// Each number of a row times its own of w, complex numbers, in half precision, each product rounded. An element a thread.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void rotate_kernel(__half *out, const __half *x, const __half *w, int d)
{
    int64_t row = (int64_t)blockIdx.x * d * 2;
    for (int i = threadIdx.x; i < 2 * d; i += blockDim.x) {
        const __half *a = x + row + i / 2 * 2, *b = w + i / 2 * 2;
        out[row + i] = i % 2 ? __hadd(__hmul_rn(a[0], b[1]), __hmul_rn(a[1], b[0]))
                             : __hsub(__hmul_rn(a[0], b[0]), __hmul_rn(a[1], b[1]));
    }
}

extern "C" void rotate(__half *out, const __half *x, const __half *w, int rows, int d, cudaStream_t stream)
{
    rotate_kernel<<<rows, 128, 0, stream>>>(out, x, w, d);
}
