// A loop over rows, one thread's steps are not shared out.
// transform: unroll -1
// leaves
#include <cstdint>

__global__ void work(float *out, const float *in, int n, int d)
{
    for (int row = 0; row < n; row++)
        out[row * d + threadIdx.x] = in[row * d + threadIdx.x];
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<n, 128, 0, stream>>>(out, in, n, d);
}
