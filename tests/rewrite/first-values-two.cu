// Several variables of one declaration, of which one has its value; in a device function.
// transform: first-values 0
// applies: line 10
// has: int rest = 3;
// has: int row = i / d;
// has: int column = i % d;
#include <cuda_runtime.h>
__device__ float pick(const float *in, int i, int d)
{
    int row, column, rest = 3;
    row = i / d;
    column = i % d;
    return in[row * d + column] + rest;
}

__global__ void work(float *out, const float *in, int n, int d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = pick(in, i, d);
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<(n + 255) / 256, 256, 0, stream>>>(out, in, n, d);
}
