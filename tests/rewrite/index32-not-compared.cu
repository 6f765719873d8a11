// The index ends in 32 bits, but is divided when it may be larger than them.
// transform: index32 32
// leaves
#include <cstdint>

__global__ void work(float *out, const float *in, size_t n, size_t d)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int from = i * d * d / (d + 1);
    out[i] = in[from];
}

extern "C" void entry(float *out, const float *in, size_t n, size_t d, cudaStream_t stream)
{
    work<<<(n + 127) / 128, 128, 0, stream>>>(out, in, n, d);
}
