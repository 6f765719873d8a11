#include <cuda_runtime.h>
// Values between the points of a table whose places rise; a thread a value, its interval by halving.
__global__ void between(float *out, const int *at, const int *place, const float *value, int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int q = at[i], low = 0, high = m - 1;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (place[middle] <= q)
            low = middle;
        else
            high = middle;
    }
    int gap = place[high] - place[low];
    float part = gap > 0 ? (float)(q - place[low]) / (float)gap : 0.0f;
    part = fminf(fmaxf(part, 0.0f), 1.0f);
    out[i] = value[low] + part * (value[high] - value[low]);
}
extern "C" void interp1(float *out, const int *at, const int *place, const float *value, int n, int m, cudaStream_t stream)
{
    between<<<(n + 255) / 256, 256, 0, stream>>>(out, at, place, value, n, m);
}
