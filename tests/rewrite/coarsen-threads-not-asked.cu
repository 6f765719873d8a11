// Only what is stored is asked about: what further items load lies behind the end.
// transform: coarsen-threads 2
// leaves
#include <cstdint>

__global__ void work(float *out, const float *in, int n, int d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i];
    if (i < n)
        out[i] = x * d;
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<n / 128, 128, 0, stream>>>(out, in, n, d);
}
