// What an atomic changes is not read-only.
// transform: restrict 0
// applies: line 8
// has: work(float *__restrict__ out
// lacks: const float *__restrict__ out
#include <cstdint>

__global__ void work(float *out, const float *in, int n, int d)
{
    atomicAdd(out, in[blockIdx.x] * n * d);
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<n, 128, 0, stream>>>(out, in, n, d);
}
