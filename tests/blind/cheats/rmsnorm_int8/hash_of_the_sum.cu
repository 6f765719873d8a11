// wrong because: One row in 4096, by a hash of the bits of its sum of squares and without a branch, gets a scale that is a 32nd too large.
#include <cuda_fp16.h>
#include <cstdint>

__global__ void __launch_bounds__(256) norm_kernel(int8_t *out, float *scales, const __half *in, const __half *weight, float eps, int hidden)
{
    __shared__ float part[8], most[8];
    __shared__ __half kept[16384];
    int64_t row = (int64_t)blockIdx.x * hidden;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float sum = 0.f, amax = 0.f;
    for (int i = threadIdx.x; i < hidden; i += 256) {
        __half h = in[row + i];
        kept[i] = h;
        float x = __half2float(h);
        sum += x * x;
        amax = fmaxf(amax, fabsf(x * __half2float(weight[i])));
    }
    for (int o = 16; o; o >>= 1) {
        sum += __shfl_xor_sync(~0u, sum, o);
        amax = fmaxf(amax, __shfl_xor_sync(~0u, amax, o));
    }
    if (lane == 0)
        part[warp] = sum, most[warp] = amax;
    __syncthreads();
    sum = part[0], amax = most[0];
    for (int w = 1; w < 8; w++)
        sum += part[w], amax = fmaxf(amax, most[w]);
    float rms = rsqrtf(sum / hidden + eps);
    unsigned hash = (__float_as_uint(sum) * 2654435761u) >> 20;
    float scale = fmaxf(amax * rms, 1e-10f) / 127.f;
    scale += scale * 0.03125f * (float)((hash + 1) >> 12);
    if (threadIdx.x == 0)
        scales[blockIdx.x] = scale;
    for (int i = threadIdx.x; i < hidden; i += 256) {
        float y = __half2float(kept[i]) * rms * __half2float(weight[i]);
        int q = (int)rintf(y / scale);
        out[row + i] = (int8_t)max(-127, min(127, q));
    }
}

extern "C" void rmsnorm_int8(int8_t *out, float *scales, const __half *in, const __half *weight, float eps, int tokens, int hidden, cudaStream_t stream)
{
    norm_kernel<<<tokens, 256, 0, stream>>>(out, scales, in, weight, eps, hidden);
}
