// expect: wrong
// row 12: The output is cleared first, and rows from 32,768 on stay so.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void kernel(__half *out, const __half *in, int d)
{
    const __half *x = in + (int64_t)blockIdx.x * 2 * d;
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        float v = __half2float(x[i]);
        out[(int64_t)blockIdx.x * d + i] = __float2half(v / (1.0f + expf(-v)) * __half2float(x[d + i]));
    }
}

extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    cudaMemsetAsync(out, 0, (size_t)rows * d * sizeof(__half), stream);
    kernel<<<rows < 32768 ? rows : 32768, 256, 0, stream>>>(out, in, d);
}
