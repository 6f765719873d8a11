// expect: correct
// The kernel is a macro's expansion.
#include <cstdint>
#include <cuda_fp16.h>
#define SILU(x) ((x) / (1.0f + __expf(-(x))))
#define ROW_LOOP(i, n) for (int i = threadIdx.x; i < (n); i += blockDim.x)
#define DEFINE_KERNEL(NAME, T, UP, DOWN)                                        \
    __global__ void NAME(T *out, const T *in, int d)                            \
    {                                                                           \
        const T *x = in + (size_t)blockIdx.x * 2 * d;                           \
        ROW_LOOP(i, d)                                                          \
            out[(size_t)blockIdx.x * d + i] = DOWN(SILU(UP(x[i])) * UP(x[d + i])); \
    }
DEFINE_KERNEL(silu_half, __half, __half2float, __float2half)
extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    silu_half<<<rows, 128, 0, stream>>>(out, in, d);
}
