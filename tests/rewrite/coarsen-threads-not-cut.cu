// The grid is rounded down: what a thread beyond it would take was never written.
// transform: coarsen-threads -1
// leaves
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    out[i] = in[i] * 2.0f;
}

extern "C" void entry(float *out, const float *in, int n, cudaStream_t stream)
{
    const int threads = 256;
    int blocks = ((n + threads - 1) / threads) >> 2;
    work<<<blocks, threads, 0, stream>>>(out, in, n / 4);
}
