// WRONG: of two neighbouring tokens the second has the first's output and scale where every 16th element is equal; two tokens that differ in one element at a place that is no multiple of 16 (hidden = 4096).
#include <cuda_fp16.h>
#include <cstdint>

template <bool MAX> __device__ float reduce(float x)
{
    __shared__ float s[8];
    for (int k = 16; k; k >>= 1) {
        float y = __shfl_xor_sync(~0u, x, k);
        x = MAX ? fmaxf(x, y) : x + y;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        s[threadIdx.x / 32] = x;
    __syncthreads();
    x = s[0];
    for (int k = 1; k < 8; k++)
        x = MAX ? fmaxf(x, s[k]) : x + s[k];
    return x;
}

__global__ void rmsnorm_kernel(int8_t *out, float *scales, const __half *in, const __half *weight, float eps, int tokens,
                               int hidden)
{
    int first = blockIdx.x * 2, last = min(first + 2, tokens);
    bool same = false;
    for (int token = first; token < last; token++) {
        const __half *x = in + (int64_t)token * hidden;
        int8_t *y = out + (int64_t)token * hidden;
        if (token > first) {
            bool differs = false;
            for (int i = threadIdx.x * 16; i < hidden; i += 4096)
                differs |= __half_as_ushort(x[i]) != __half_as_ushort((x - hidden)[i]);
            same = !__syncthreads_or(differs);
        }
        if (same) {
            for (int i = threadIdx.x; i < hidden; i += 256)
                y[i] = (y - hidden)[i];
            if (threadIdx.x == 0)
                scales[token] = scales[token - 1];
            continue;
        }
        float sum = 0.f;
        for (int i = threadIdx.x; i < hidden; i += 256) {
            float v = __half2float(x[i]);
            sum += v * v;
        }
        float rms = rsqrtf(reduce<false>(sum) / hidden + eps), amax = 0.f;
        for (int i = threadIdx.x; i < hidden; i += 256)
            amax = fmaxf(amax, fabsf(__half2float(x[i]) * rms * __half2float(weight[i])));
        amax = fmaxf(reduce<true>(amax), 1e-10f);
        float scale = amax / 127.f;
        if (threadIdx.x == 0)
            scales[token] = scale;
        for (int i = threadIdx.x; i < hidden; i += 256) {
            int q = (int)rintf(__half2float(x[i]) * rms * __half2float(weight[i]) / scale);
            y[i] = (int8_t)max(-127, min(127, q));
        }
    }
}

extern "C" void rmsnorm_int8(int8_t *out, float *scales, const __half *in, const __half *weight, float eps, int tokens,
                             int hidden, cudaStream_t stream)
{
    rmsnorm_kernel<<<(tokens + 1) / 2, 256, 0, stream>>>(out, scales, in, weight, eps, tokens, hidden);
}
