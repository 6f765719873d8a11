// Two structs of 24 bytes are three vectors; what a thread leaves as it is goes back as it came.
// transform: vectorise 16
// applies: line 17
// has: packed<Particle, 2> p_v = packed_load<2>(&p[i]);
// has: p_v.at[k].x += p_v.at[k].vx * dt;
// has: packed_store(&p[i], p_v);
// has: (uintptr_t)((Particle *)p) % 16 == 0
#include <cstdint>

struct Particle {
    float x, y, z;
    float vx, vy, vz;
};

__global__ void work(Particle *p, int n, float dt)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i].x += p[i].vx * dt;
}

extern "C" void entry(float *p, int n, float dt, cudaStream_t stream)
{
    work<<<(n + 127) / 128, 128, 0, stream>>>((Particle *)p, n, dt);
}
