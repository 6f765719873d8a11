// A constant of the file keeps its name.
// transform: fixed-block 0
// applies: line 9
// has: i += THREADS
#include <cstdint>

constexpr int THREADS = 256;

__global__ void work(float *out, const float *in, int n, int d)
{
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[blockIdx.x * d + i] = 2.0f * in[blockIdx.x * d + i];
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<n, THREADS, 0, stream>>>(out, in, n, d);
}
