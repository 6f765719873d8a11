// How many turns there are is another number for each element: each goes through its loop by itself.
// transform: vectorise 16
// applies: line 11
// has: for (int r = from[i + k]; r < from[(i + k) + 1]; r++)
// lacks: sum[4]
// lacks: sum[k]
#include <cstdint>

__global__ void work(float *out, const float *in, const int *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0.0f;
    for (int r = from[i]; r < from[i + 1]; r++)
        sum += in[r];
    out[i] = sum;
}

extern "C" void entry(float *out, const float *in, const int *from, int n, cudaStream_t stream)
{
    work<<<(n + 255) / 256, 256, 0, stream>>>(out, in, from, n);
}
