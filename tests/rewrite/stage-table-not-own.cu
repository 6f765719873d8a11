// Each thread walks rows of its own, or begins at another one, or goes on for another number of turns: nothing is common.
// transform: stage-table -1
// leaves
#include <cstdint>

__global__ void sums(float *out, const float *x, const float *y, const float *z, const int *from, int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0.0f;
    for (int k = 0; k < m; k++)
        sum += x[i * m + k];
    for (int k = i; k < m; k++)
        sum += y[k];
    for (int k = 0; k < from[i]; k++)
        sum += z[k];
    out[i] = sum;
}

extern "C" void entry(float *out, const float *x, const float *y, const float *z, const int *from, int n, int m, cudaStream_t stream)
{
    sums<<<(n + 127) / 128, 128, 0, stream>>>(out, x, y, z, from, n, m);
}
