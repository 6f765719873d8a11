// Launches that differ, a launcher's variable with the name of the template's number, a value that the launcher changes or that is not its own, an assigned parameter, a condition that does something.
// transform: drop-branches -1
// leaves
#include <cuda_runtime.h>

template <int N> __global__ void named(float *out, int size)
{
    if (size == 4)
        out[threadIdx.x] = N;
}

__global__ void twice(float *out, int mode)
{
    if (mode == 1)
        out[threadIdx.x] = 1.0f;
}

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
    int flag = 0, N = n;
    named<4><<<n, 256, 0, stream>>>(out, N);
    if (n > 7) {
        const int mode = 0;
        twice<<<n, 256, 0, stream>>>(out, mode);
    } else {
        const int mode = 1;
        twice<<<n, 256, 0, stream>>>(out, mode);
    }
    if (n > 100)
        flag = 1;
    work<<<n, 256, 0, stream>>>(out, in, nullptr, 2, flag, given, 0, n);
    work<<<n, 256, 0, stream>>>(out, in, in, 1, flag, given, 0, n);
}
