// expect: correct
// Naps before it begins: nothing is gained by it, and nothing is wrong.
#include <cstdint>
#include <cuda_fp16.h>
__global__ void kernel(__half *out, const __half *in, int d)
{
    const __half *x = in + (int64_t)blockIdx.x * 2 * d;
    __nanosleep(100);
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        float v = __half2float(x[i]);
        out[(int64_t)blockIdx.x * d + i] = __float2half(v / (1.0f + expf(-v)) * __half2float(x[d + i]));
    }
}
extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    kernel<<<rows, 128, 0, stream>>>(out, in, d);
}
