#include <cuda_runtime.h>
// Gaussians laid over each other, the front one first, in tiles of 16 by 16; a block a tile, a thread a pixel.
__global__ void splat(float *out, const float *mean, const float *conic, const float *skew, const float *opacity,
                      const float *colour, int n)
{
    float x = threadIdx.x + 0.5f, y = threadIdx.y + 0.5f, left = 1.0f, r = 0.0f, g = 0.0f, b = 0.0f;
    for (int k = 0; k < n; k++) {
        long long at = (long long)blockIdx.x * n + k;
        float dx = x - mean[2 * at], dy = y - mean[2 * at + 1];
        float power = -0.5f * (conic[2 * at] * dx * dx + conic[2 * at + 1] * dy * dy) - skew[at] * dx * dy;
        float alpha = fminf(0.99f, opacity[at] * expf(power));
        r += colour[3 * at] * alpha * left;
        g += colour[3 * at + 1] * alpha * left;
        b += colour[3 * at + 2] * alpha * left;
        left *= 1.0f - alpha;
    }
    float *to = out + 3 * (256ll * blockIdx.x + 16 * threadIdx.y + threadIdx.x);
    to[0] = r;
    to[1] = g;
    to[2] = b;
}
extern "C" void splat_tile(float *out, const float *mean, const float *conic, const float *skew, const float *opacity,
                           const float *colour, int tiles, int n, cudaStream_t stream)
{
    splat<<<tiles, dim3(16, 16), 0, stream>>>(out, mean, conic, skew, opacity, colour, n);
}
