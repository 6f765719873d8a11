#include <cuda_runtime.h>
// Attraction of all bodies on each; a thread a body.
__global__ void attract(float *out, const float *body, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = body[4 * i], y = body[4 * i + 1], z = body[4 * i + 2], ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int j = 0; j < n; j++) {
        float dx = body[4 * j] - x, dy = body[4 * j + 1] - y, dz = body[4 * j + 2] - z;
        float d = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f), f = body[4 * j + 3] * d * d * d;
        ax += f * dx;
        ay += f * dy;
        az += f * dz;
    }
    out[3 * i] = ax;
    out[3 * i + 1] = ay;
    out[3 * i + 2] = az;
}
extern "C" void nbody(float *out, const float *body, int n, cudaStream_t stream)
{
    attract<<<(n + 63) / 64, 64, 0, stream>>>(out, body, n);
}
