// expect: launch-failed words dimension y must be from 1 to 65535
// row 12: Blocks along y, of which there are 65535.
#include <cstdint>
#include <cuda_fp16.h>
__global__ void kernel(__half *out, const __half *in, int rows, int d)
{
    int row = blockIdx.x, i = blockIdx.y * 128 + threadIdx.x;
    if (i < d) {
        float v = __half2float(in[(int64_t)row * 2 * d + i]);
        out[(int64_t)row * d + i] = __float2half(v / (1.0f + expf(-v)) * __half2float(in[(int64_t)row * 2 * d + d + i]));
    }
}
extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    kernel<<<dim3(rows, (d + 127) / 128), 128, 0, stream>>>(out, in, rows, d);
}
