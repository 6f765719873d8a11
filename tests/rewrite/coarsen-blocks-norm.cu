// Two sums over the block with one barrier each for four rows; what is the same for all rows stays as it was.
// transform: coarsen-blocks 4
// applies: line 41
// has: __device__ __forceinline__ void warp_sum_by4(float (&result)[4]
// has: static __shared__ float shared[4][WARPS];
// has: warp_sum_by4<WARPS>(result, val);
// has: idx[k] = (blockIdx.x * 4 + k) * blockDim.x + threadIdx.x;
// has: int tid = threadIdx.x;
// has: block_sum_by4<THREADS>(sum, value);
// has: x_of[k] += (blockIdx.x * 4 + k) * length;
// has: d[k] = x_of[k][i] - s_mean[k];
// has: y[idx[k]] = (value[k] - s_mean[k]) * s_scale[k] * gain;
// has: if (rows % 4 == 0 && rows >= 1056) {
// has: norm_by4<256><<<rows / 4, 256, 0, stream>>>(x, y, gain, rows, length);
// lacks: lane[4]
#include <cuda_runtime.h>

template <int WIDTH = 32> __device__ __forceinline__ float warp_sum(float val)
{
#pragma unroll
    for (int mask = WIDTH >> 1; mask >= 1; mask >>= 1)
        val += __shfl_xor_sync(0xffffffff, val, mask);
    return val;
}

template <const int THREADS> __device__ float block_sum(float val)
{
    constexpr int WARPS = (THREADS + 31) / 32;
    int warp = threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    static __shared__ float shared[WARPS];

    val = warp_sum<32>(val);
    if (lane == 0)
        shared[warp] = val;
    __syncthreads();
    val = (lane < WARPS) ? shared[lane] : 0.0f;
    return warp_sum<WARPS>(val);
}

template <const int THREADS> __global__ void norm(const float *x, float *y, float gain, int rows, int length)
{
    const int idx = blockIdx.x * blockDim.x + threadIdx.x, tid = threadIdx.x;
    const float epsilon = 1e-5f;
    __shared__ float s_mean, s_scale;
    float value = (idx < rows * length) ? x[idx] : 0.0f;
    float sum = block_sum<THREADS>(value);
    if (tid == 0)
        s_mean = sum / (float)length;
    __syncthreads();
    x += blockIdx.x * length;
    float part = 0.0f;
    for (int i = threadIdx.x; i < length; i += blockDim.x) {
        float d = x[i] - s_mean;
        part += d * d;
    }
    part = block_sum<THREADS>(part);
    if (tid == 0)
        s_scale = rsqrtf(part / (float)length + epsilon);
    __syncthreads();
    if (idx < rows * length)
        y[idx] = (value - s_mean) * s_scale * gain;
}

extern "C" void entry(const float *x, float *y, float gain, int rows, int length, cudaStream_t stream)
{
    norm<256><<<rows, 256, 0, stream>>>(x, y, gain, rows, length);
}
