// The kernel changes it.
// transform: specialise -1
// fact: d same 128
// leaves
#include <cstdint>

__global__ void work(float *out, const float *in, int n, int d)
{
    d = d / 2;
    out[blockIdx.x] = in[blockIdx.x * d];
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<n, 128, 0, stream>>>(out, in, n, d);
}
