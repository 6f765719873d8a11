// Two elements a thread, a block apart.
// transform: coarsen-threads 2
// applies: line 10
// has: int i = (blockIdx.x * 2 + item) * blockDim.x + threadIdx.x;
// has: work<<<(n + 255) / 256, 128, 0, stream>>>
#include <cstdint>

__global__ void work(float *out, const float *in, int n, int d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    out[i] = in[i] * d;
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<(n + 127) / 128, 128, 0, stream>>>(out, in, n, d);
}
