// expect: correct
// 64-bit indices without <cstdint>.
#include <cuda_fp16.h>

__global__ void kernel(__half *out, const __half *in, int rows, int d)
{
    const int64_t n = (int64_t)rows * d;
    const size_t stride = (size_t)gridDim.x * blockDim.x;
    for (int64_t k = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; k < n; k += stride) {
        const unsigned i = (unsigned)(k % d);
        const int64_t row = k / d;
        float x = in[row * 2 * d + i];
        float y = in[row * 2 * d + d + i];
        out[k] = x / (1.f + expf(-x)) * y;
    }
}

extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    int64_t n = (int64_t)rows * d;
    int blocks = (int)std::min<int64_t>((n + 255) / 256, 4096);
    kernel<<<blocks, 256, 0, stream>>>(out, in, rows, d);
}
