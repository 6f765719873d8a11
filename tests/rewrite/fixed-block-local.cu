// A constant of the launcher is not known in the kernel: its number is written down.
// transform: fixed-block 0
// applies: line 7
// has: i += 256
#include <cstdint>

__global__ void work(float *out, const float *in, int n, int d)
{
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[blockIdx.x * d + i] = 2.0f * in[blockIdx.x * d + i];
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    const int threads = 256;
    work<<<n, threads, 0, stream>>>(out, in, n, d);
}
