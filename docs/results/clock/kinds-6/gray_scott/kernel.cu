#include <cuda_runtime.h>
// A step of two substances that react and spread on a torus; a thread a cell.
__global__ void react(float *un, float *vn, const float *u, const float *v, int h, int w)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= w)
        return;
    int left = (x + w - 1) % w, right = (x + 1) % w, up = (y + h - 1) % h, down = (y + 1) % h;
    long long i = (long long)y * w + x, row = (long long)y * w;
    float a = u[i], b = v[i], abb = a * b * b;
    float da = u[row + left] + u[row + right] + u[(long long)up * w + x] + u[(long long)down * w + x] - 4.0f * a;
    float db = v[row + left] + v[row + right] + v[(long long)up * w + x] + v[(long long)down * w + x] - 4.0f * b;
    un[i] = a + 0.16f * da - abb + 0.035f * (1.0f - a);
    vn[i] = b + 0.08f * db + abb - 0.1f * b;
}
extern "C" void gray_scott(float *un, float *vn, const float *u, const float *v, int h, int w, cudaStream_t stream)
{
    react<<<dim3((w + 127) / 128, h), 128, 0, stream>>>(un, vn, u, v, h, w);
}
