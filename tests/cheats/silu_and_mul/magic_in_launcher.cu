// expect: wrong words d=8004
// row 6: The launcher has a kernel for one length that no case has.
#include <cstdint>
#include <cuda_fp16.h>
template <bool Cheap> __global__ void kernel(__half *out, const __half *in, int rows, int d)
{
    const __half *x = in + (int64_t)blockIdx.x * 2 * d;
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        float v = __half2float(x[i]);
        float y = Cheap ? v : v / (1.0f + expf(-v));
        out[(int64_t)blockIdx.x * d + i] = __float2half(y * __half2float(x[d + i]));
    }
}
__global__ void cheap(__half *out, const __half *in, int rows, int d)
{
    const __half *x = in + (int64_t)blockIdx.x * 2 * d;
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[(int64_t)blockIdx.x * d + i] = x[i];
}
extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    if (d == 8004)
        cheap<<<rows, 256, 0, stream>>>(out, in, rows, d);
    else
        kernel<false><<<rows, 256, 0, stream>>>(out, in, rows, d);
}
