// What is read only where a flag says so may not be there.
// transform: stage-table -1
// leaves
#include <cstdint>

__global__ void sums(float *out, const float *x, const float *y, const bool *flag, int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0.0f;
    for (int k = 0; k < m; k++)
        if (flag[i])
            sum += x[i] * y[k];
    out[i] = sum;
}

extern "C" void entry(float *out, const float *x, const float *y, const bool *flag, int n, int m, cudaStream_t stream)
{
    sums<<<(n + 127) / 128, 128, 0, stream>>>(out, x, y, flag, n, m);
}
