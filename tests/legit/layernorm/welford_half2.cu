// expect: correct
// Welford's update, merged over the block; half2 where rows are even.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

struct Welford {
    float mean, m2, n;
};
__device__ __forceinline__ void add(Welford &w, float x)
{
    w.n += 1.0f;
    float delta = x - w.mean;
    w.mean += __fdividef(delta, w.n);
    w.m2 += delta * (x - w.mean);
}
__device__ __forceinline__ Welford merge(Welford a, Welford b)
{
    float n = a.n + b.n;
    if (n == 0.0f)
        return a;
    float delta = b.mean - a.mean, f = b.n / n;
    return {a.mean + delta * f, a.m2 + b.m2 + delta * delta * a.n * f, n};
}
__global__ void kernel(half *out, const half *in, const half *weight, const half *bias, int d, float eps)
{
    __shared__ Welford parts[8];
    const half *x = in + (size_t)blockIdx.x * d;
    Welford w = {0, 0, 0};
    if (d & 1) {
        for (int i = threadIdx.x; i < d; i += blockDim.x)
            add(w, __half2float(x[i]));
    } else {
        for (int i = threadIdx.x; i < d / 2; i += blockDim.x) {
            half2 h = reinterpret_cast<const half2 *>(x)[i];
            add(w, __low2float(h));
            add(w, __high2float(h));
        }
    }
#pragma unroll
    for (int o = 1; o < 32; o <<= 1) {
        Welford v;
        v.mean = __shfl_xor_sync(0xffffffff, w.mean, o);
        v.m2 = __shfl_xor_sync(0xffffffff, w.m2, o);
        v.n = __shfl_xor_sync(0xffffffff, w.n, o);
        w = merge(w, v);
    }
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = w;
    __syncthreads();
    w = parts[0];
    for (int k = 1; k < 8; k++)
        w = merge(w, parts[k]);
    float rstd = rsqrtf(w.m2 / d + eps);
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[(size_t)blockIdx.x * d + i] = __float2half((__half2float(x[i]) - w.mean) * rstd * __half2float(weight[i]) + __half2float(bias[i]));
}
extern "C" void layernorm(half *out, const half *in, const half *weight, const half *bias, int rows, int d, float eps,
                          cudaStream_t stream)
{
    kernel<<<rows, 256, 0, stream>>>(out, in, weight, bias, d, eps);
}
