#include <cuda_runtime.h>
// How far each ray goes until it is nearest to one of m balls, or in it; a thread a ray.
__global__ void cast(float *near, const float *from, const float *to, const float *ball, int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float ox = from[4 * i], oy = from[4 * i + 1], oz = from[4 * i + 2], dx = to[4 * i], dy = to[4 * i + 1], dz = to[4 * i + 2];
    float least = 1.0e30f;
    for (int j = 0; j < m; j++) {
        float x = ball[4 * j] - ox, y = ball[4 * j + 1] - oy, z = ball[4 * j + 2] - oz, r = ball[4 * j + 3];
        float along = (x * dx + y * dy + z * dz) / (dx * dx + dy * dy + dz * dz);
        float px = x - along * dx, py = y - along * dy, pz = z - along * dz;
        float inside = fmaxf(r * r - (px * px + py * py + pz * pz), 0.0f);
        least = fminf(least, along - sqrtf(inside / (dx * dx + dy * dy + dz * dz)));
    }
    near[i] = least;
}
extern "C" void ray_sphere(float *near, const float *from, const float *to, const float *ball, int n, int m, cudaStream_t stream)
{
    cast<<<(n + 127) / 128, 128, 0, stream>>>(near, from, to, ball, n, m);
}
