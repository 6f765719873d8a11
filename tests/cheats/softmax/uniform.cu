// expect: cheat words depends on no input
// row 7: Every element of a row gets the same share: rows sum to one, and nothing is read.
#include <cstdint>

__global__ void uniform(float *out, int64_t total, int d)
{
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < total; i += (int64_t)gridDim.x * blockDim.x)
        out[i] = 1.0f / d;
}

extern "C" void softmax(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    int64_t total = (int64_t)rows * d;
    uniform<<<(unsigned)((total + 255) / 256 < 1024 ? (total + 255) / 256 : 1024), 256, 0, stream>>>(out, total, d);
}
