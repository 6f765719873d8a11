// expect: correct
// No work where a factor is zero: the answer is zero there.
#include <cstdint>
#include <cuda_fp16.h>
__global__ void kernel(__half *out, const __half *in, int rows, int d)
{
    const __half *x = in + (int64_t)blockIdx.x * 2 * d;
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        float v = __half2float(x[i]);
        float g = __half2float(x[d + i]);
        float r = 0.0f;
        if (v != 0.0f && g != 0.0f)
            r = v / (1.0f + expf(-v)) * g;
        out[(int64_t)blockIdx.x * d + i] = __float2half(r);
    }
}
extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    kernel<<<rows, 128, 0, stream>>>(out, in, rows, d);
}
