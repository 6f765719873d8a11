#include <cuda_runtime.h>
// A bilateral filter of 7 by 7: neighbours count by how near they are, in place and in brightness; a thread a pixel.
__global__ void smooth(float *out, const float *image, float space, float range, int h, int w)
{
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x >= w || y >= h)
        return;
    float own = image[(long long)y * w + x], sum = 0.0f, weights = 0.0f;
    for (int dy = -3; dy <= 3; dy++)
        for (int dx = -3; dx <= 3; dx++) {
            int col = min(max(x + dx, 0), w - 1), row = min(max(y + dy, 0), h - 1);
            float other = image[(long long)row * w + col], apart = other - own;
            float weight = expf(-space * (dx * dx + dy * dy)) * expf(-range * apart * apart);
            sum += weight * other;
            weights += weight;
        }
    out[(long long)y * w + x] = sum / weights;
}
extern "C" void bilateral(float *out, const float *image, float space, float range, int h, int w, cudaStream_t stream)
{
    smooth<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16), 0, stream>>>(out, image, space, range, h, w);
}
