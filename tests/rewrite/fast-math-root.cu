// A division by a root.
// transform: fast-math 0
// applies: line 7
// has: out[i] = x * rsqrtf(x + 2.0f);
#include <cstdint>

__global__ void work(float *out, const float *in, int n, int d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float x = in[i];
        out[i] = x / sqrtf(x + 2.0f);
    }
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<n, 128, 0, stream>>>(out, in, n, d);
}
