#include <cuda_runtime.h>
// The forces of 32 neighbours on each particle, out of a list; a thread a particle.
__global__ void forces(float *force, const float *place, const int *beside, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = place[4 * i], y = place[4 * i + 1], z = place[4 * i + 2], fx = 0.0f, fy = 0.0f, fz = 0.0f, energy = 0.0f;
    for (int k = 0; k < 32; k++) {
        int j = beside[(long long)i * 32 + k];
        float dx = x - place[4 * j], dy = y - place[4 * j + 1], dz = z - place[4 * j + 2];
        float s = 1.0f / (dx * dx + dy * dy + dz * dz + 0.5f), s3 = s * s * s, f = s * s3 * (s3 + 0.5f) * place[4 * j + 3];
        fx += f * dx;
        fy += f * dy;
        fz += f * dz;
        energy += s3 * place[4 * j + 3];
    }
    force[4 * i] = fx;
    force[4 * i + 1] = fy;
    force[4 * i + 2] = fz;
    force[4 * i + 3] = energy;
}
extern "C" void pair_force(float *force, const float *place, const int *beside, int n, cudaStream_t stream)
{
    forces<<<(n + 127) / 128, 128, 0, stream>>>(force, place, beside, n);
}
