// A quotient times its divisor is at most the index again; twice that needs half the bound.
// transform: index32 32
// applies: line 10
// has: unsigned row = i / d;
// has: <= 536870912
#include <cstdint>

__global__ void work(float *out, const float *in, int n, int d)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (int64_t)n * d)
        return;
    int64_t row = i / d;
    out[i] = in[row * 2 * d];
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<(unsigned)(((int64_t)n * d + 127) / 128), 128, 0, stream>>>(out, in, n, d);
}
