#include <cuda_runtime.h>
// A block has a box and 32 channels: the 14 places and shares along each side are found once and lie in shared memory;
// the results are one contiguous piece. The sixteen reads of a result do not wait for each other.
__global__ void __launch_bounds__(256)
    align(float *__restrict__ out, const float *__restrict__ map, const float *__restrict__ boxes, int channels, int h,
          int w)
{
    __shared__ int place[2][14];
    __shared__ float share[2][14];
    int t = threadIdx.x, roi = blockIdx.x, first = blockIdx.y * 32;
    if (t < 28) {
        int side = t >= 14, k = t - side * 14, extent = side ? h : w;
        float from = boxes[roi * 4 + side] * (extent - 1);
        float step = boxes[roi * 4 + 2 + side] * (extent - 1 - from) / 14.0f;
        float x = from + (k + 0.5f) * step;
        int low = max(0, min((int)x, extent - 2));
        place[side][k] = side ? low * w : low;
        share[side][k] = x - low;
    }
    __syncthreads();
    int many = min(32, channels - first) * 49, size = h * w;
    const float *base = map + (long long)first * size;
    float *to = out + ((long long)roi * channels + first) * 49;
    for (int i = t; i < many; i += 256) {
        int c = i / 49, bin = i - c * 49, by = bin / 7, bx = bin - by * 7;
        const float *plane = base + (long long)c * size;
        float sum = 0.0f;
#pragma unroll
        for (int sy = 0; sy < 2; sy++) {
            const float *row = plane + place[1][by * 2 + sy];
            float fy = share[1][by * 2 + sy];
#pragma unroll
            for (int sx = 0; sx < 2; sx++) {
                const float *at = row + place[0][bx * 2 + sx];
                float fx = share[0][bx * 2 + sx], gx = 1.0f - fx;
                sum += (1.0f - fy) * (gx * at[0] + fx * at[1]) + fy * (gx * at[w] + fx * at[w + 1]);
            }
        }
        to[i] = sum * 0.25f;
    }
}
extern "C" void roi_align(float *out, const float *map, const float *boxes, int rois, int channels, int h, int w,
                          cudaStream_t stream)
{
    align<<<dim3(rois, (channels + 31) / 32), 256, 0, stream>>>(out, map, boxes, channels, h, w);
}
