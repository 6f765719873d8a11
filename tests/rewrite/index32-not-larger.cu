// Nothing limits the square of the index.
// transform: index32 32
// leaves
#include <cstdint>

__global__ void work(float *out, const float *in, int n, int d)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (int64_t)n * d)
        return;
    out[i] = in[i * i];
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<(unsigned)(((int64_t)n * d + 127) / 128), 128, 0, stream>>>(out, in, n, d);
}
