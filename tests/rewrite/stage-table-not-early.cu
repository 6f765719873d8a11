// Threads that have nothing to do leave by themselves, and would not help to move the table.
// transform: stage-table -1
// leaves
#include <cstdint>

__global__ void sums(float *out, const float *x, const int *mask, const float *y, int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    if (mask[i] == 0)
        return;
    float sum = 0.0f;
    for (int k = 0; k < m; k++)
        sum += x[i] * y[k];
    out[i] = sum;
}

extern "C" void entry(float *out, const float *x, const int *mask, const float *y, int n, int m, cudaStream_t stream)
{
    sums<<<(n + 127) / 128, 128, 0, stream>>>(out, x, mask, y, n, m);
}
