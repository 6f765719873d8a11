// The rest of another division.
// transform: simplify 0
// leaves
#include <cstdint>

__global__ void work(float *out, const float *in, int n, int d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int row = i / d, column = i % n;
    if (i < n)
        out[i] = in[row * d + column];
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<(n + 127) / 128, 128, 0, stream>>>(out, in, n, d);
}
