#include <cuda_runtime.h>
// A thread keeps its point for eight planes.
__global__ void sample(float *__restrict__ out, const float *__restrict__ img, const float2 *__restrict__ xy, int c, int h, int w, int p)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= p)
        return;
    float2 v = xy[i];
    float x = v.x * (w - 1), y = v.y * (h - 1);
    int x0 = min((int)x, w - 2), y0 = min((int)y, h - 2);
    float fx = x - x0, fy = y - y0;
    int first = blockIdx.y * 8, last = min(first + 8, c);
    const float *at = img + ((long long)first * h + y0) * w + x0;
    float *to = out + (long long)first * p + i;
    long long plane = (long long)h * w;
#pragma unroll 4
    for (int k = first; k < last; k++) {
        float top = at[0] * (1 - fx) + at[1] * fx, low = at[w] * (1 - fx) + at[w + 1] * fx;
        *to = top * (1 - fy) + low * fy;
        at += plane;
        to += p;
    }
}
extern "C" void bilinear(float *out, const float *img, const float *xy, int c, int h, int w, int p, cudaStream_t stream)
{
    sample<<<dim3((p + 127) / 128, (c + 7) / 8), 128, 0, stream>>>(out, img, (const float2 *)xy, c, h, w, p);
}
