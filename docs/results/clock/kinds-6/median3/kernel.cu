#include <cuda_runtime.h>
// The median of each pixel's 3 by 3 neighbours, edges repeated; a thread a pixel, by sorting.
__global__ void median(float *out, const float *in, int h, int w)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    float v[9];
    for (int dy = 0; dy < 3; dy++)
        for (int dx = 0; dx < 3; dx++)
            v[dy * 3 + dx] = in[(long long)min(max(y + dy - 1, 0), h - 1) * w + min(max(x + dx - 1, 0), w - 1)];
    for (int i = 0; i < 5; i++)
        for (int j = i + 1; j < 9; j++) {
            float low = fminf(v[i], v[j]), high = fmaxf(v[i], v[j]);
            v[i] = low;
            v[j] = high;
        }
    out[(long long)y * w + x] = v[4];
}
extern "C" void median3(float *out, const float *in, int h, int w, cudaStream_t stream)
{
    median<<<dim3((w + 31) / 32, (h + 7) / 8), dim3(32, 8), 0, stream>>>(out, in, h, w);
}
