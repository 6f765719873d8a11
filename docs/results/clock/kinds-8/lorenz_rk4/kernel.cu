#include <cuda_runtime.h>
// Where Lorenz' equations lead in eight steps of Runge and Kutta; a thread a start.
__device__ void slope(float x, float y, float z, float *dx, float *dy, float *dz)
{
    *dx = 10.0f * (y - x);
    *dy = x * (28.0f - z) - y;
    *dz = x * y - z * 8.0f / 3.0f;
}
__global__ void lorenz(float *out, const float *start, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = start[3 * i], y = start[3 * i + 1], z = start[3 * i + 2], h = 0.005f;
    for (int k = 0; k < 8; k++) {
        float ax, ay, az, bx, by, bz, cx, cy, cz, dx, dy, dz;
        slope(x, y, z, &ax, &ay, &az);
        slope(x + 0.5f * h * ax, y + 0.5f * h * ay, z + 0.5f * h * az, &bx, &by, &bz);
        slope(x + 0.5f * h * bx, y + 0.5f * h * by, z + 0.5f * h * bz, &cx, &cy, &cz);
        slope(x + h * cx, y + h * cy, z + h * cz, &dx, &dy, &dz);
        x += h / 6.0f * (ax + 2.0f * bx + 2.0f * cx + dx);
        y += h / 6.0f * (ay + 2.0f * by + 2.0f * cy + dy);
        z += h / 6.0f * (az + 2.0f * bz + 2.0f * cz + dz);
    }
    out[3 * i] = x;
    out[3 * i + 1] = y;
    out[3 * i + 2] = z;
}
extern "C" void lorenz_rk4(float *out, const float *start, int n, cudaStream_t stream)
{
    lorenz<<<(n + 255) / 256, 256, 0, stream>>>(out, start, n);
}
