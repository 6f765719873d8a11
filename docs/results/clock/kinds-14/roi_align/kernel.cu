#include <cuda_runtime.h>
// Features of regions for detection: each box is cut into 7 x 7 bins, a bin is the mean of 2 x 2 bilinear samples of
// the map. A box is a corner and an extent, as shares of the map and of what is left. A thread a result.
__global__ void align(float *out, const float *map, const float *boxes, int rois, int channels, int h, int w)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (long long)rois * channels * 49)
        return;
    int bin = i % 49, c = i / 49 % channels, roi = i / 49 / channels;
    const float *plane = map + (long long)c * h * w;
    const float *box = boxes + roi * 4;
    float x0 = box[0] * (w - 1), y0 = box[1] * (h - 1);
    float dx = box[2] * (w - 1 - x0) / 14.0f, dy = box[3] * (h - 1 - y0) / 14.0f;
    float sum = 0.0f;
    for (int sy = 0; sy < 2; sy++)
        for (int sx = 0; sx < 2; sx++) {
            float x = x0 + (bin % 7 * 2 + sx + 0.5f) * dx, y = y0 + (bin / 7 * 2 + sy + 0.5f) * dy;
            int left = max(0, min((int)x, w - 2)), top = max(0, min((int)y, h - 2));
            float fx = x - left, fy = y - top;
            const float *at = plane + top * w + left;
            sum += (1.0f - fy) * ((1.0f - fx) * at[0] + fx * at[1]) + fy * ((1.0f - fx) * at[w] + fx * at[w + 1]);
        }
    out[i] = sum / 4.0f;
}
extern "C" void roi_align(float *out, const float *map, const float *boxes, int rois, int channels, int h, int w,
                          cudaStream_t stream)
{
    long long n = (long long)rois * channels * 49;
    align<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(out, map, boxes, rois, channels, h, w);
}
