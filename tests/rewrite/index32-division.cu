// Quotients and remainders of an index that the bound check limits.
// transform: index32 32
// applies: line 11
// has: unsigned i = (unsigned)blockIdx.x * blockDim.x + threadIdx.x;
// has: unsigned row = i / d;
// has: if ((int64_t)n * d <= 1073741824) {
#include <cstdint>

__global__ void work(float *out, const float *in, int n, int d)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (int64_t)n * d)
        return;
    int64_t row = i / d;
    out[i] = in[row];
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<(unsigned)(((int64_t)n * d + 127) / 128), 128, 0, stream>>>(out, in, n, d);
}
