// expect: correct
// Vectors of four; the row stays in registers where it fits.
#include <cuda_runtime.h>
#include <cmath>

template <int T, int V>
__global__ void __launch_bounds__(T) cached(float *out, const float *in, int d)
{
    __shared__ float red[T / 32];
    float4 r[V];
    const float4 *x = reinterpret_cast<const float4 *>(in + (size_t)blockIdx.x * d);
    float4 *y = reinterpret_cast<float4 *>(out + (size_t)blockIdx.x * d);
    const int n = d >> 2;
    float m = -INFINITY;
#pragma unroll
    for (int k = 0; k < V; ++k) {
        int i = threadIdx.x + k * T;
        if (i < n) {
            r[k] = x[i];
            m = fmaxf(fmaxf(m, fmaxf(r[k].x, r[k].y)), fmaxf(r[k].z, r[k].w));
        }
    }
    for (int o = 16; o; o >>= 1)
        m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, o));
    if (threadIdx.x % 32 == 0)
        red[threadIdx.x / 32] = m;
    __syncthreads();
    m = red[0];
    for (int w = 1; w < T / 32; ++w)
        m = fmaxf(m, red[w]);
    __syncthreads();
    float s = 0;
#pragma unroll
    for (int k = 0; k < V; ++k) {
        if (threadIdx.x + k * T < n) {
            r[k].x = expf(r[k].x - m); r[k].y = expf(r[k].y - m);
            r[k].z = expf(r[k].z - m); r[k].w = expf(r[k].w - m);
            s += (r[k].x + r[k].y) + (r[k].z + r[k].w);
        }
    }
    for (int o = 16; o; o >>= 1)
        s += __shfl_xor_sync(0xffffffff, s, o);
    if (threadIdx.x % 32 == 0)
        red[threadIdx.x / 32] = s;
    __syncthreads();
    s = 0;
    for (int w = 0; w < T / 32; ++w)
        s += red[w];
    s = 1.0f / s;
#pragma unroll
    for (int k = 0; k < V; ++k) {
        int i = threadIdx.x + k * T;
        if (i < n)
            y[i] = make_float4(r[k].x * s, r[k].y * s, r[k].z * s, r[k].w * s);
    }
}

__global__ void general(float *out, const float *in, int d)
{
    // A warp a row, three passes.
    const float *x = in + (size_t)blockIdx.x * d;
    float m = -INFINITY, s = 0;
    for (int i = threadIdx.x; i < d; i += 32)
        m = max(m, x[i]);
    for (int o = 16; o; o >>= 1)
        m = max(m, __shfl_xor_sync(0xffffffff, m, o));
    for (int i = threadIdx.x; i < d; i += 32)
        s += exp(x[i] - m);
    for (int o = 16; o; o >>= 1)
        s += __shfl_xor_sync(0xffffffff, s, o);
    for (int i = threadIdx.x; i < d; i += 32)
        out[(size_t)blockIdx.x * d + i] = exp(x[i] - m) / s;
}

extern "C" void softmax(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    using kernel_t = void (*)(float *, const float *, int);
    kernel_t k = general;
    int threads = 32;
    if (d % 4 == 0 && d <= 256 * 4 * 4)
    {
        k = cached<256, 4>;
        threads = 256;
    } else if (d % 4 == 0 && d <= 1024 * 4 * 8) {
        k = cached<1024, 8>;
        threads = 1024;
    }
    k<<<rows, threads, 0, stream>>>(out, in, d);
}
