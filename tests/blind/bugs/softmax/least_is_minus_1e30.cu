// WRONG: the largest so far begins at -1e30, so that empty lanes make no NaN; a row of numbers below that (-1e35) has a sum of 0 and gives NaN.
#include <cstdint>

__device__ void merge(float &m, float &s, float om, float os)
{
    float n = fmaxf(m, om);
    s = s * __expf(m - n) + os * __expf(om - n);
    m = n;
}

__global__ void softmax_kernel(float *out, const float *in, int d)
{
    __shared__ float sm[16], ss[16];
    const float *x = in + (int64_t)blockIdx.x * d;
    float m = -1e30f, s = 0.f;
    for (int64_t i = threadIdx.x; i < d; i += 512) {
        float v = x[i];
        if (v > m) {
            s *= __expf(m - v);
            m = v;
        }
        s += __expf(v - m);
    }
    for (int k = 16; k; k >>= 1)
        merge(m, s, __shfl_xor_sync(~0u, m, k), __shfl_xor_sync(~0u, s, k));
    if (threadIdx.x % 32 == 0)
        sm[threadIdx.x / 32] = m, ss[threadIdx.x / 32] = s;
    __syncthreads();
    m = sm[0];
    s = ss[0];
    for (int w = 1; w < 16; w++)
        merge(m, s, sm[w], ss[w]);
    for (int64_t i = threadIdx.x; i < d; i += 512)
        out[(int64_t)blockIdx.x * d + i] = __expf(x[i] - m) / s;
}

extern "C" void softmax(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    softmax_kernel<<<rows, 512, 0, stream>>>(out, in, d);
}
