#include <cuda_runtime.h>
// A thread a row of a part, then a column of it; between them 16 parts of a strip lie in shared memory.
__device__ __forceinline__ void line(float v[8])
{
    const float c1 = 0.49039264f, c2 = 0.46193977f, c3 = 0.41573481f, c4 = 0.35355339f, c5 = 0.27778512f,
                c6 = 0.19134172f, c7 = 0.09754516f;
    float s0 = v[0] + v[7], s1 = v[1] + v[6], s2 = v[2] + v[5], s3 = v[3] + v[4];
    float d0 = v[0] - v[7], d1 = v[1] - v[6], d2 = v[2] - v[5], d3 = v[3] - v[4];
    float p = s0 + s3, q = s1 + s2, r = s0 - s3, t = s1 - s2;
    v[0] = c4 * (p + q);
    v[4] = c4 * (p - q);
    v[2] = c2 * r + c6 * t;
    v[6] = c6 * r - c2 * t;
    v[1] = c1 * d0 + c3 * d1 + c5 * d2 + c7 * d3;
    v[3] = c3 * d0 - c7 * d1 - c1 * d2 - c5 * d3;
    v[5] = c5 * d0 - c1 * d1 + c7 * d2 + c3 * d3;
    v[7] = c7 * d0 - c5 * d1 + c3 * d2 - c1 * d3;
}
__global__ void transform(float *__restrict__ out, const float *__restrict__ image, int w)
{
    __shared__ float strip[8][16 * 9];
    int first = blockIdx.x * 128, t = threadIdx.x, wide = min(128, w - first);
    long long at = 8ll * blockIdx.y * w + first;
    float v[8];
    if (t < wide) {
#pragma unroll
        for (int k = 0; k < 8; k++)
            v[k] = image[at + (long long)k * w + t];
        line(v);
#pragma unroll
        for (int k = 0; k < 8; k++)
            strip[k][t / 8 * 9 + t % 8] = v[k];
    }
    __syncthreads();
    int row = t % 8, part = t / 8;
    if (part * 8 < wide) {
#pragma unroll
        for (int k = 0; k < 8; k++)
            v[k] = strip[row][part * 9 + k];
        line(v);
#pragma unroll
        for (int k = 0; k < 8; k++)
            strip[row][part * 9 + k] = v[k];
    }
    __syncthreads();
    if (t < wide) {
#pragma unroll
        for (int k = 0; k < 8; k++)
            out[at + (long long)k * w + t] = strip[k][t / 8 * 9 + t % 8];
    }
}
extern "C" void dct8(float *out, const float *image, int h, int w, cudaStream_t stream)
{
    transform<<<dim3((w + 127) / 128, h / 8), 128, 0, stream>>>(out, image, w);
}
