// Right: the maximum by integers in the order of the floats, a row a warp where rows are short.
#include <cstdint>

__device__ int ordered(float x)
{
    int b = __float_as_int(x);
    return b ^ (b >> 31 & 0x7fffffff);
}

__device__ float value(int key)
{
    return __int_as_float(key ^ (key >> 31 & 0x7fffffff));
}

template <int WARPS> __global__ void softmax_kernel(float *out, const float *in, int rows, int d)
{
    __shared__ int most[WARPS];
    __shared__ float sums[WARPS];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const float *x = in + (int64_t)blockIdx.x * d;
    float *y = out + (int64_t)blockIdx.x * d;
    int key = ordered(-__int_as_float(0x7f800000));
    for (int64_t i = threadIdx.x; i < d; i += 32 * WARPS)
        key = max(key, ordered(x[i]));
    key = __reduce_max_sync(0xffffffffu, key);
    if (WARPS > 1) {
        if (lane == 0)
            most[warp] = key;
        __syncthreads();
        for (int k = 0; k < WARPS; k++)
            key = max(key, most[k]);
    }
    float m = value(key), sum = 0;
    for (int64_t i = threadIdx.x; i < d; i += 32 * WARPS)
        sum += __expf(x[i] - m);
    for (int k = 16; k > 0; k >>= 1)
        sum += __shfl_xor_sync(0xffffffffu, sum, k);
    if (WARPS > 1) {
        if (lane == 0)
            sums[warp] = sum;
        __syncthreads();
        sum = 0;
        for (int k = 0; k < WARPS; k++)
            sum += sums[k];
    }
    float scale = 1.0f / sum;
    for (int64_t i = threadIdx.x; i < d; i += 32 * WARPS)
        y[i] = __expf(x[i] - m) * scale;
}

extern "C" void softmax(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    switch (d >= 1024 ? 16 : d >= 128 ? 4 : 1) {
    case 16:
        softmax_kernel<16><<<rows, 512, 0, stream>>>(out, in, rows, d);
        break;
    case 4:
        softmax_kernel<4><<<rows, 128, 0, stream>>>(out, in, rows, d);
        break;
    default:
        softmax_kernel<1><<<rows, 32, 0, stream>>>(out, in, rows, d);
    }
}
