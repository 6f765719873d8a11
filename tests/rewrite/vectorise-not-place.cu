// Something besides the index knows the thread, behind a bound check too: elements of one thread would share it.
// transform: vectorise -1
// leaves
#include <cstdint>

__global__ void work(float *out, const float *in, const float *weight, int n)
{
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    if (i >= n)
        return;
    out[i] = in[i] * weight[t];
}

extern "C" void entry(float *out, const float *in, const float *weight, int n, cudaStream_t stream)
{
    work<<<(n + 255) / 256, 256, 0, stream>>>(out, in, weight, n);
}
