// out[r][i] = silu(x) * gate, where a row of `in` holds d values x and then d gates.
#include <cstdint>
#include <cuda_fp16.h>

__device__ __forceinline__ float silu_mul(float x, float g)
{
    return x / (1.0f + __expf(-x)) * g;
}

__device__ __forceinline__ unsigned pair(unsigned a, unsigned b)
{
    float2 x = __half22float2(*reinterpret_cast<__half2 *>(&a));
    float2 g = __half22float2(*reinterpret_cast<__half2 *>(&b));
    __half2 r = __floats2half2_rn(silu_mul(x.x, g.x), silu_mul(x.y, g.y));
    return *reinterpret_cast<unsigned *>(&r);
}

template <int N> __global__ void silu_vector(uint4 *__restrict__ out, const uint4 *__restrict__ in, int d8)
{
    const uint4 *x = in + (int64_t)blockIdx.y * 2 * d8;
    uint4 *o = out + (int64_t)blockIdx.y * d8;
    int base = blockIdx.x * (blockDim.x * N) + threadIdx.x;
    uint4 a[N], b[N];
#pragma unroll
    for (int k = 0; k < N; k++) {
        int i = base + k * blockDim.x;
        if (i < d8) {
            a[k] = __ldcs(x + i);
            b[k] = __ldcs(x + d8 + i);
        }
    }
#pragma unroll
    for (int k = 0; k < N; k++) {
        int i = base + k * blockDim.x;
        if (i < d8) {
            uint4 r;
            r.x = pair(a[k].x, b[k].x);
            r.y = pair(a[k].y, b[k].y);
            r.z = pair(a[k].z, b[k].z);
            r.w = pair(a[k].w, b[k].w);
            __stcs(o + i, r);
        }
    }
}

__global__ void silu_scalar(__half *__restrict__ out, const __half *__restrict__ in, int d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= d)
        return;
    const __half *x = in + (int64_t)blockIdx.y * 2 * d;
    out[(int64_t)blockIdx.y * d + i] = __float2half(silu_mul(__half2float(x[i]), __half2float(x[(int64_t)d + i])));
}

extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    bool vector = d % 8 == 0 && (((uintptr_t)out | (uintptr_t)in) & 15) == 0;
    if (!vector) {
        dim3 grid((unsigned)(((int64_t)d + 127) / 128), rows);
        silu_scalar<<<grid, 128, 0, stream>>>(out, in, d);
        return;
    }
    int d8 = d / 8;
    if ((int64_t)rows * d8 < 132 * 2048) {
        dim3 grid((d8 + 63) / 64, rows);
        silu_vector<1><<<grid, 64, 0, stream>>>((uint4 *)out, (const uint4 *)in, d8);
    } else {
        dim3 grid((d8 + 511) / 512, rows);
        silu_vector<2><<<grid, 256, 0, stream>>>((uint4 *)out, (const uint4 *)in, d8);
    }
}
