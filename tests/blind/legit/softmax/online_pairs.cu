// Right: one pass for maximum and sum together (online softmax); states are merged with their own maxima. A thread without elements has (-inf, 0) and is left out of the merge, so no inf - inf. float4 where d % 4 == 0.
#include <cstdint>
__device__ void merge(float &m, float &s, float m2, float s2)
{
    if (m2 == -INFINITY)
        return;
    if (m2 > m) {
        s = (m == -INFINITY ? 0.0f : s * __expf(m - m2)) + s2;
        m = m2;
    } else {
        s += s2 * __expf(m2 - m);
    }
}
__global__ __launch_bounds__(512) void softmax_kernel(float *out, const float *in, int d)
{
    __shared__ float ms[16], ss[16];
    int64_t row = (int64_t)blockIdx.x * d;
    float m = -INFINITY, s = 0.0f;
    if (d % 4 == 0) {
        const float4 *wide = (const float4 *)(in + row);
        for (int i = threadIdx.x; i < d / 4; i += 512) {
            float4 v = wide[i];
            float n = fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w));
            merge(m, s, n, __expf(v.x - n) + __expf(v.y - n) + (__expf(v.z - n) + __expf(v.w - n)));
        }
    } else {
        for (int i = threadIdx.x; i < d; i += 512)
            merge(m, s, in[row + i], 1.0f);
    }
    for (int o = 16; o; o /= 2) {
        float m2 = __shfl_xor_sync(~0u, m, o), s2 = __shfl_xor_sync(~0u, s, o);
        merge(m, s, m2, s2);
    }
    if (threadIdx.x % 32 == 0) {
        ms[threadIdx.x / 32] = m;
        ss[threadIdx.x / 32] = s;
    }
    __syncthreads();
    m = -INFINITY;
    s = 0.0f;
    for (int w = 0; w < 16; w++)
        merge(m, s, ms[w], ss[w]);
    float scale = 1.0f / s;
    if (d % 4 == 0) {
        const float4 *wide = (const float4 *)(in + row);
        float4 *to = (float4 *)(out + row);
        for (int i = threadIdx.x; i < d / 4; i += 512) {
            float4 v = wide[i];
            to[i] = make_float4(__expf(v.x - m) * scale, __expf(v.y - m) * scale, __expf(v.z - m) * scale, __expf(v.w - m) * scale);
        }
    } else {
        for (int i = threadIdx.x; i < d; i += 512)
            out[row + i] = __expf(in[row + i] - m) * scale;
    }
}
extern "C" void softmax(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    softmax_kernel<<<rows, 512, 0, stream>>>(out, in, d);
}
