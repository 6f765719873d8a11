// What the kernel writes is not read ahead, an unknown place of a row is none of it, and four floats are one access.
// transform: stage-rows 0
// leaves
#include <cuda_runtime.h>

__global__ void work(float *rows, const float *four, const float *in, const int *at, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    rows[i * 8] += rows[i * 8 + 7];
    float sum = in[i * 16 + at[i]];
    for (int k = 0; k < 4; k++)
        sum += four[i * 4 + k];
    out[i] = sum;
}

extern "C" void entry(float *rows, const float *four, const float *in, const int *at, float *out, int n,
                      cudaStream_t stream)
{
    work<<<(n + 127) / 128, 128, 0, stream>>>(rows, four, in, at, out, n);
}
