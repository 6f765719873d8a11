// A pointer to a point of four numbers, of which two are written: the others are read, and go back as they came.
// transform: vectorise 16
// applies: line 11
// has: packed<float, 16> p_v = packed_load<16>(&p[0]);
// has: p_v.at[4 * k + 1] +=
// has: packed_store(&p[0], p_v);
#include <cstdint>

__global__ void work(float *points, int n, float dt)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float *p = points + 4 * i;
        p[0] += p[2] * dt;
        p[1] += p[3] * dt;
    }
}

extern "C" void entry(float *points, int n, float dt, cudaStream_t stream)
{
    work<<<(n + 127) / 128, 128, 0, stream>>>(points, n, dt);
}
