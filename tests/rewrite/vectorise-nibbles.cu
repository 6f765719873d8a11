// Two halves of a byte become two numbers; row and column come of a division, and their place in the row is even.
// transform: vectorise 4
// applies: line 13
// has: packed<__half, 8> out_v;
// has: out_v.at[2 * k + 1] =
// has: packed_store(&out[row * cols + c], out_v);
// has: float s = __half2float(scale[row * (cols / 128) + c / 128]);
#include <cstdint>
#include <cuda_fp16.h>

__global__ void work(__half *out, const uint8_t *q, const __half *scale, int rows, int cols)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * cols / 2)
        return;
    int row = i / (cols / 2), c = (i % (cols / 2)) * 2;
    uint8_t v = q[i];
    float s = __half2float(scale[row * (cols / 128) + c / 128]);
    out[row * cols + c] = __float2half(((int)(v & 15) - 8) * s);
    out[row * cols + c + 1] = __float2half(((int)(v >> 4) - 8) * s);
}

extern "C" void entry(__half *out, const uint8_t *q, const __half *scale, int rows, int cols, cudaStream_t stream)
{
    int n = rows * cols / 2;
    work<<<(n + 255) / 256, 256, 0, stream>>>(out, q, scale, rows, cols);
}
