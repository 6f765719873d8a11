// No bound check, and a thread's number is asked for otherwise: it would be the number of several elements.
// transform: vectorise -1
// leaves
#include <cstdint>

__global__ void work(float *out, const float *in, int n, int d)
{
    int lane = threadIdx.x;
    int i = blockIdx.x * blockDim.x + lane;
    out[i] = in[i] + lane;
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<n, 128, 0, stream>>>(out, in, n, d);
}
