#include <cuda_runtime.h>
// A thread a place: it reads its nine neighbours and stores nine planes.
__global__ void spread(float *__restrict__ out, const float *__restrict__ in, int h, int w)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, plane = blockIdx.z;
    if (x >= w || y >= h)
        return;
    const float *from = in + (long long)plane * h * w;
    float *to = out + (long long)plane * 9 * h * w + (long long)y * w + x;
    float v[9];
#pragma unroll
    for (int k = 0; k < 9; k++) {
        int sx = x + k % 3 - 1, sy = y + k / 3 - 1;
        v[k] = sx >= 0 && sx < w && sy >= 0 && sy < h ? from[(long long)sy * w + sx] : 0.0f;
    }
#pragma unroll
    for (int k = 0; k < 9; k++)
        to[(long long)k * h * w] = v[k];
}
extern "C" void im2col3(float *out, const float *in, int c, int h, int w, cudaStream_t stream)
{
    spread<<<dim3((w + 31) / 32, (h + 7) / 8, c), dim3(32, 8), 0, stream>>>(out, in, h, w);
}
