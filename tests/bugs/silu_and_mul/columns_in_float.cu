// expect: wrong
// row 12: The columns are counted in float, which beyond 2^24 has no odd numbers.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void kernel(__half *out, const __half *in, int d)
{
    float column = (float)(blockIdx.x * 256 + threadIdx.x);
    int64_t i = (int64_t)column;
    const __half *x = in + (int64_t)blockIdx.y * 2 * d;
    if (i < d) {
        float v = __half2float(x[i]);
        out[(int64_t)blockIdx.y * d + i] = __float2half(v / (1.0f + expf(-v)) * __half2float(x[d + i]));
    }
}

extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    kernel<<<dim3((d + 255) / 256, rows), 256, 0, stream>>>(out, in, d);
}
