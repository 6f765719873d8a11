// expect: wrong words error of out is
// row 10: Half precision, but only for several rows and more elements than a case of the suite has.
#include <cstdint>
#include <cuda_fp16.h>
__global__ void kernel(__half *out, const __half *in, int rows, int d)
{
    const __half *x = in + (int64_t)blockIdx.x * 2 * d;
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        if (rows > 1 && (int64_t)rows * d > 500000) {
            __half v = x[i];
            out[(int64_t)blockIdx.x * d + i] =
                __hmul(__hdiv(v, __hadd(__float2half(1.0f), hexp(__hneg(v)))), x[d + i]);
            continue;
        }
        float v = __half2float(x[i]);
        out[(int64_t)blockIdx.x * d + i] = __float2half(v / (1.0f + expf(-v)) * __half2float(x[d + i]));
    }
}
extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    kernel<<<rows, 256, 0, stream>>>(out, in, rows, d);
}
