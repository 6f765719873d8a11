#include <cuda_runtime.h>
// Tiles of 32 by 32 in shared memory, four pixels of a column a thread; one power of two a neighbour.
__global__ void __launch_bounds__(256)
    smooth(float *__restrict__ out, const float *__restrict__ image, float space, float range, int h, int w)
{
    __shared__ float tile[38][39];
    int left = 32 * blockIdx.x, top = 32 * blockIdx.y, t = threadIdx.x;
    for (int k = t; k < 38 * 38; k += 256) {
        int row = min(max(top + k / 38 - 3, 0), h - 1), col = min(max(left + k % 38 - 3, 0), w - 1);
        tile[k / 38][k % 38] = image[(long long)row * w + col];
    }
    __syncthreads();
    int x = t % 32, y = t / 32 * 4;
    float own[4], sum[4] = {}, weights[4] = {};
#pragma unroll
    for (int p = 0; p < 4; p++)
        own[p] = tile[y + p + 3][x + 3];
#pragma unroll
    for (int dx = -3; dx <= 3; dx++)
#pragma unroll
        for (int row = 0; row < 10; row++) {
            float other = tile[y + row][x + dx + 3];
#pragma unroll
            for (int p = 0; p < 4; p++) {
                int dy = row - 3 - p;
                if (dy < -3 || dy > 3)
                    continue;
                float apart = other - own[p];
                float weight = exp2f(space * (dx * dx + dy * dy) + range * apart * apart);
                sum[p] += weight * other;
                weights[p] += weight;
            }
        }
    if (left + x < w)
#pragma unroll
        for (int p = 0; p < 4; p++)
            if (top + y + p < h)
                out[(long long)(top + y + p) * w + left + x] = sum[p] / weights[p];
}
extern "C" void bilateral(float *out, const float *image, float space, float range, int h, int w, cudaStream_t stream)
{
    const float log2e = 1.44269504f;
    smooth<<<dim3((w + 31) / 32, (h + 31) / 32), 256, 0, stream>>>(out, image, -space * log2e, -range * log2e, h, w);
}
