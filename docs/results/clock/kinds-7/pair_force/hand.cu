#include <cuda_runtime.h>
// Eight lanes a particle, four neighbours each, particles and the list in vectors.
__global__ void forces(float4 *__restrict__ force, const float4 *__restrict__ place, const int4 *__restrict__ beside, int n)
{
    int t = blockIdx.x * 256 + threadIdx.x, i = t / 8;
    bool inside = i < n;
    float4 me = place[inside ? i : 0], sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    int4 who = inside ? beside[(long long)i * 8 + t % 8] : make_int4(0, 0, 0, 0);
    float4 other[4] = {place[who.x], place[who.y], place[who.z], place[who.w]};
#pragma unroll
    for (int k = 0; k < 4; k++) {
        float dx = me.x - other[k].x, dy = me.y - other[k].y, dz = me.z - other[k].z;
        float s = 1.0f / (dx * dx + dy * dy + dz * dz + 0.5f), s3 = s * s * s, f = s * s3 * (s3 + 0.5f) * other[k].w;
        sum.x += f * dx;
        sum.y += f * dy;
        sum.z += f * dz;
        sum.w += s3 * other[k].w;
    }
#pragma unroll
    for (int o = 4; o > 0; o /= 2) {
        sum.x += __shfl_xor_sync(~0u, sum.x, o);
        sum.y += __shfl_xor_sync(~0u, sum.y, o);
        sum.z += __shfl_xor_sync(~0u, sum.z, o);
        sum.w += __shfl_xor_sync(~0u, sum.w, o);
    }
    if (inside && t % 8 == 0)
        force[i] = sum;
}
extern "C" void pair_force(float *force, const float *place, const int *beside, int n, cudaStream_t stream)
{
    forces<<<(unsigned)(((long long)n * 8 + 255) / 256), 256, 0, stream>>>((float4 *)force, (const float4 *)place, (const int4 *)beside, n);
}
