// What is written ahead of the loop would be written by threads that stay beyond the last element, too.
// transform: stage-table -1
// leaves
#include <cstdint>

__global__ void sums(float *out, float *copy, const float *x, const float *y, int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0.0f;
    copy[i] = x[i];
    for (int k = 0; k < m; k++)
        sum += x[i] * y[k];
    out[i] = sum;
}

extern "C" void entry(float *out, float *copy, const float *x, const float *y, int n, int m, cudaStream_t stream)
{
    sums<<<(n + 127) / 128, 128, 0, stream>>>(out, copy, x, y, n, m);
}
