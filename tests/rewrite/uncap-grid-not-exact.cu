// The kernel does not walk in steps of the grid: more blocks would be another result.
// transform: uncap-grid -1
// leaves
#include <cstdint>

__global__ void work(float *out, const float *in, int n, int d)
{
    if (blockIdx.x < n)
        out[blockIdx.x] = in[blockIdx.x] * d;
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    int blocks = n < 256 ? n : 256;
    work<<<blocks, 128, 0, stream>>>(out, in, n, d);
}
