// A block a row: each thread keeps its largest and its sum as it goes; warps join them.
#include <cstdint>
#include <math_constants.h>

struct running {
    float largest, sum;
};

__device__ running join(running a, running b)
{
    float m = fmaxf(a.largest, b.largest);
    if (m == -CUDART_INF_F)
        return {m, 0.0f};
    return {m, a.sum * __expf(a.largest - m) + b.sum * __expf(b.largest - m)};
}

__device__ running join_warp(running r)
{
#pragma unroll
    for (int k = 16; k > 0; k >>= 1)
        r = join(r, {__shfl_xor_sync(0xffffffffu, r.largest, k), __shfl_xor_sync(0xffffffffu, r.sum, k)});
    return r;
}

__global__ void __launch_bounds__(256) softmax_kernel(float *__restrict__ out, const float *__restrict__ in, int d)
{
    __shared__ running warps[8];
    int64_t row = (int64_t)blockIdx.x * d;
    running r = {-CUDART_INF_F, 0.0f};
    for (int i = threadIdx.x; i < d; i += 256)
        r = join(r, {in[row + i], 1.0f});
    r = join_warp(r);
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = r;
    __syncthreads();
    r = warps[0];
#pragma unroll
    for (int w = 1; w < 8; w++)
        r = join(r, warps[w]);
    float scale = 1.0f / r.sum;
    for (int i = threadIdx.x; i < d; i += 256)
        out[row + i] = __expf(in[row + i] - r.largest) * scale;
}

extern "C" void softmax(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    softmax_kernel<<<rows, 256, 0, stream>>>(out, in, d);
}
