#include <cuda_runtime.h>
// Four pixels a thread, in three vectors; corners along an edge lie side by side.
__device__ __forceinline__ float3 graded(const float *__restrict__ table, float r, float g, float b)
{
    r *= 32.0f;
    g *= 32.0f;
    b *= 32.0f;
    int x = min((int)r, 31), y = min((int)g, 31), z = min((int)b, 31);
    r -= x;
    g -= y;
    b -= z;
    const float *cell = table + 3 * ((x * 33 + y) * 33 + z);
    float3 sum = make_float3(0.0f, 0.0f, 0.0f);
#pragma unroll
    for (int edge = 0; edge < 4; edge++) {
        const float *from = cell + 3 * 33 * 33 * (edge / 2) + 3 * 33 * (edge % 2);
        float weight = (edge / 2 ? r : 1.0f - r) * (edge % 2 ? g : 1.0f - g), low = weight * (1.0f - b),
              high = weight * b;
        sum.x += low * from[0] + high * from[3];
        sum.y += low * from[1] + high * from[4];
        sum.z += low * from[2] + high * from[5];
    }
    return sum;
}
__global__ void grade(float4 *__restrict__ out, const float4 *__restrict__ pixels, const float *__restrict__ table,
                      int n)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= n)
        return;
    float4 u = pixels[3ll * i], v = pixels[3ll * i + 1], w = pixels[3ll * i + 2];
    float3 p = graded(table, u.x, u.y, u.z), q = graded(table, u.w, v.x, v.y), s = graded(table, v.z, v.w, w.x),
           t = graded(table, w.y, w.z, w.w);
    out[3ll * i] = make_float4(p.x, p.y, p.z, q.x);
    out[3ll * i + 1] = make_float4(q.y, q.z, s.x, s.y);
    out[3ll * i + 2] = make_float4(s.z, t.x, t.y, t.z);
}
extern "C" void lut3d(float *out, const float *pixels, const float *table, int n, cudaStream_t stream)
{
    grade<<<(n / 4 + 127) / 128, 128, 0, stream>>>((float4 *)out, (const float4 *)pixels, table, n / 4);
}
