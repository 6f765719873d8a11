// An index of 32 bits stays what it is, whatever it was made of: divisions are of what fits, and the launcher asks
// how large a parameter of 64 bits is.
// transform: index32 32
// applies: line 13
// has: unsigned n, unsigned d)
// has: unsigned i = (unsigned)blockIdx.x * blockDim.x + threadIdx.x;
// has: int left = i / d * d * 2 + i % d;
// has: if (n <= 268435456 && d <= 1073741824) {
#include <cstdint>

__global__ void work(float *out, const float *in, size_t n, size_t d)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int left = i / d * d * 2 + i % d;
    int right = left + d;
    out[i] = in[left] + *(in + right);
}

extern "C" void entry(float *out, const float *in, size_t n, size_t d, cudaStream_t stream)
{
    work<<<(n + 127) / 128, 128, 0, stream>>>(out, in, n, d);
}
