// out[r][i] = silu(x) * gate, where a row of `in` holds d values x and then d gates.
#include <cstdint>
#include <cuda_bf16.h>

__global__ void silu_and_mul_kernel(__nv_bfloat16 *out, const __nv_bfloat16 *in, int rows, int d,
                                    int64_t out_stride, int64_t in_stride)
{
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        for (int i = blockIdx.y * blockDim.x + threadIdx.x; i < d; i += gridDim.y * blockDim.x) {
            float x = __bfloat162float(in[row * in_stride + i]);
            float gate = __bfloat162float(in[row * in_stride + d + i]);
            float silu = x / (1.0f + expf(-x));
            out[row * out_stride + i] = __float2bfloat16(silu * gate);
        }
    }
}

extern "C" void silu_and_mul(__nv_bfloat16 *out, const __nv_bfloat16 *in, int rows, int d, cudaStream_t stream)
{
    int blocks = rows < 256 ? rows : 256;
    // Several blocks share a row, so that few rows still fill the GPU.
    const int row_blocks = (int)((d + 127) / 128);
    silu_and_mul_kernel<<<dim3(blocks, row_blocks < 65535 ? row_blocks : 65535), 128, 0, stream>>>(out, in,
        rows, d, (int64_t)d, (int64_t)d * 2);
}
