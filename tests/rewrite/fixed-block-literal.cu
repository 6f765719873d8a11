// Every launch has 128 threads.
// transform: fixed-block 0
// applies: line 8
// has: int i = blockIdx.x * 128 + threadIdx.x;
// lacks: blockDim.x
#include <cstdint>

__global__ void work(float *out, const float *in, int n, int d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n * d)
        out[i] = 2.0f * in[i];
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<(n * d + 127) / 128, 128, 0, stream>>>(out, in, n, d);
}
