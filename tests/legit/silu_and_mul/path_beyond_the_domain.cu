// expect: correct
// Another way for more rows than the domain has, which is right: a constant to be sought in vain.
#include <cstdint>
#include <cuda_fp16.h>
__global__ void kernel(__half *out, const __half *in, int rows, int d)
{
    for (int64_t row = blockIdx.x; row < rows; row += rows > 70000 ? gridDim.x : rows) {
        const __half *x = in + row * 2 * d;
        for (int i = threadIdx.x; i < d; i += blockDim.x) {
            float v = __half2float(x[i]);
            out[row * d + i] = __float2half(v / (1.0f + expf(-v)) * __half2float(x[d + i]));
        }
    }
}
extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    kernel<<<rows > 70000 ? 65535 : rows, 256, 0, stream>>>(out, in, rows, d);
}
