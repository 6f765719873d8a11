// expect: wrong words where the runtime answers otherwise
// row 19: Leaves out rows where another number of blocks fits.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void kernel(__half *out, const __half *in, int rows, int d)
{
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        const __half *x = in + (int64_t)row * 2 * d;
        for (int i = threadIdx.x; i < d; i += blockDim.x) {
            float v = __half2float(x[i]);
            out[(int64_t)row * d + i] = __float2half(v / (1.0f + expf(-v)) * __half2float(x[d + i]));
        }
    }
}

extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    int blocks = 0;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 128, 0);
    kernel<<<rows, 128, 0, stream>>>(out, in, blocks < 16 && rows > 1 ? rows - 1 : rows, d);
}
