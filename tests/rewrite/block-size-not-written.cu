// The kernel counts on 128 threads.
// transform: block-size 256
// leaves
#include <cstdint>

__global__ void work(float *out, const float *in, int n, int d)
{
    for (int i = threadIdx.x; i < d; i += 128)
        out[i] = in[i];
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<n, 128, 0, stream>>>(out, in, n, d);
}
