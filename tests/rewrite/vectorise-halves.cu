// A row's halves: what half of the length must be a multiple of, the length must be twice.
// transform: vectorise 16
// applies: line 13
// has: const packed<__half, 8> x_v = packed_load<8>(&x[row * d + column]);
// has: const packed<__half, 8> x_v2 = packed_load<8>(&x[row * d + half + column]);
// lacks: d % 8
// has: d % 16 == 0
#include <cuda_fp16.h>

__global__ void work(__half *out, const __half *x, int rows, int d)
{
    const int half = d / 2;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < rows * half; i += gridDim.x * blockDim.x) {
        const int row = i / half, column = i % half;
        out[i] = x[row * d + column] * x[row * d + half + column];
    }
}

extern "C" void entry(__half *out, const __half *x, int rows, int d, cudaStream_t stream)
{
    work<<<256, 256, 0, stream>>>(out, x, rows, d);
}
