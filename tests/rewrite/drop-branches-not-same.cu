// Launches that differ, a value that the launcher changes or that is not its own, an assigned parameter, a condition that does something.
// transform: drop-branches -1
// leaves
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in, const float *bias, int mode, int flag, int given, int turns, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (bias)
        out[i] = bias[i];
    if (mode == 2)
        out[i] += 1.0f;
    if (flag)
        out[i] += 2.0f;
    if (given)
        out[i] += 3.0f;
    if (turns == 0)
        turns = 1;
    if (n = 0)
        out[i] += 4.0f;
    out[i] += in[i] * turns;
}

extern "C" void entry(float *out, const float *in, int given, int n, cudaStream_t stream)
{
    int flag = 0;
    if (n > 100)
        flag = 1;
    work<<<n, 256, 0, stream>>>(out, in, nullptr, 2, flag, given, 0, n);
    work<<<n, 256, 0, stream>>>(out, in, in, 1, flag, given, 0, n);
}
