// What is read second may be what is written first; the other reads are behind a question.
// transform: join-accesses -1
// leaves
#include <cuda_runtime.h>

__global__ void work(float *x, const float *y, int n)
{
    int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 2 >= n)
        return;
    float a = x[i];
    x[i + n] = a;
    float b = x[i + 1];
    for (int k = 0; k < 4; k++)
        if (i + k < n)
            b += y[i + k];
    x[i] = i > 0 ? a + b : y[i + 1];
}

extern "C" void entry(float *x, const float *y, int n, cudaStream_t stream)
{
    work<<<(n + 511) / 512, 256, 0, stream>>>(x, y, n);
}
