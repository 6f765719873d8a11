// The bound as a condition around the work.
// transform: coarsen-threads 4
// applies: line 10
// has: int i = (blockIdx.x * 4 + item) * blockDim.x + threadIdx.x;
// has: if (i < n)
#include <cstdint>

__global__ void work(float *out, const float *in, int n, int d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * d;
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<(n + 127) / 128, 128, 0, stream>>>(out, in, n, d);
}
