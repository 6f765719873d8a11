// Where a logarithm or a sine is near zero, nothing of its approximation is right.
// transform: fast-math 0
// leaves
#include <cstdint>

__global__ void work(float *out, const float *in, int n, int d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = powf(in[i], 3.5f) + logf(in[i]) + sinf(in[i]);
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<(n + 127) / 128, 128, 0, stream>>>(out, in, n, d);
}
