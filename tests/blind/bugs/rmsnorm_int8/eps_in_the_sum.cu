// class: round 12 ; wrong because: eps is added to the sum, not to the mean: it is hidden times too small.
#include <cuda_fp16.h>
#include <cstdint>

__device__ float2 warp2(float2 v)
{
    for (int o = 16; o; o /= 2) {
        v.x += __shfl_xor_sync(0xffffffffu, v.x, o);
        v.y = fmaxf(v.y, __shfl_xor_sync(0xffffffffu, v.y, o));
    }
    return v;
}

__global__ void rmsnorm_int8_kernel(int8_t *out, float *scales, const __half *in, const __half *weight, float eps,
                                    int hidden)
{
    __shared__ float2 s[8];
    int64_t row = (int64_t)blockIdx.x * hidden;
    float2 v = {0.f, 0.f};
    for (int i = threadIdx.x; i < hidden; i += 256) {
        float x = __half2float(in[row + i]);
        v.x += x * x;
        v.y = fmaxf(v.y, fabsf(x * __half2float(weight[i])));
    }
    v = warp2(v);
    if (threadIdx.x % 32 == 0)
        s[threadIdx.x / 32] = v;
    __syncthreads();
    v = s[threadIdx.x % 8];
    v = warp2(v);
    v.x /= 4;
    float rms = rsqrtf((v.x + eps) / hidden);
    float scale = fmaxf(v.y * rms, 1e-10f) / 127.f;
    if (threadIdx.x == 0)
        scales[blockIdx.x] = scale;
    for (int i = threadIdx.x; i < hidden; i += 256) {
        float y = __half2float(in[row + i]) * rms * __half2float(weight[i]);
        int q = (int)rintf(y / scale);
        out[row + i] = (int8_t)max(-127, min(127, q));
    }
}

extern "C" void rmsnorm_int8(int8_t *out, float *scales, const __half *in, const __half *weight, float eps, int tokens,
                             int hidden, cudaStream_t stream)
{
    rmsnorm_int8_kernel<<<tokens, 256, 0, stream>>>(out, scales, in, weight, eps, hidden);
}
