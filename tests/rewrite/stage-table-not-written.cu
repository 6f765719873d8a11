// What the threads walk is written, too: another block's rows may change meanwhile.
// transform: stage-table -1
// leaves
#include <cstdint>

__global__ void relax(float *x, const float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0.0f;
    for (int k = 0; k < n; k++)
        sum += x[k];
    x[i] = sum + y[i];
}

extern "C" void entry(float *x, const float *y, int n, cudaStream_t stream)
{
    relax<<<(n + 127) / 128, 128, 0, stream>>>(x, y, n);
}
