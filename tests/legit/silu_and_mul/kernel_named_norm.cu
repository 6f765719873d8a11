// expect: correct
// The kernel has the name of functions of the headers.
// out[r][i] = silu(x) * gate, where a row of `in` holds d values x and then d gates.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void norm(__half *out, const __half *in, int rows, int d, int64_t out_stride,
                                    int64_t in_stride)
{
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        for (int i = threadIdx.x; i < d; i += blockDim.x) {
            float x = __half2float(in[row * in_stride + i]);
            float gate = __half2float(in[row * in_stride + d + i]);
            float silu = x / (1.0f + expf(-x));
            out[row * out_stride + i] = __float2half(silu * gate);
        }
    }
}

extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    int blocks = rows < 256 ? rows : 256;
    norm<<<blocks, 128, 0, stream>>>(out, in, rows, d, (int64_t)d, (int64_t)d * 2);
}
