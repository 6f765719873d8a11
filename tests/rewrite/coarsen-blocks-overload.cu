// Two templates of one name: the launch gives a number where the other has a type. A question that is the same
// for all blocks chooses between two calls.
// transform: coarsen-blocks 4
// applies: line 31
// has: if (blockDim.x <= 32) {
// has: warp_sum_by4(sum, value);
// has: block_sum_by4<float>(sum, value);
// has: total_by4<float, 1><<<rows / 4, length, 0, stream>>>
#include <cuda_runtime.h>

template <typename T> __device__ T warp_sum(T val)
{
    for (int mask = 16; mask > 0; mask >>= 1)
        val += __shfl_xor_sync(0xffffffff, val, mask, 32);
    return val;
}
template <typename T> __device__ T block_sum(T val)
{
    static __shared__ T shared[32];
    val = warp_sum<T>(val);
    if (threadIdx.x % 32 == 0)
        shared[threadIdx.x / 32] = val;
    __syncthreads();
    val = threadIdx.x < blockDim.x / 32.f ? shared[threadIdx.x % 32] : (T)0.0f;
    return warp_sum<T>(val);
}
template <int ITEMS, typename T> __global__ void total(T *out, const T *in, int rows, int length)
{
    out[blockIdx.x * ITEMS] = in[blockIdx.x * length];
}
template <typename T, int ITEMS> __global__ void total(T *out, const T *in, int rows, int length)
{
    T value = in[blockIdx.x * length + threadIdx.x];
    T sum = blockDim.x <= 32 ? warp_sum(value) : block_sum<float>(value);
    if (threadIdx.x == 0)
        out[blockIdx.x] = sum;
}

extern "C" void entry(float *out, const float *in, int rows, int length, cudaStream_t stream)
{
    total<float, 1><<<rows, length, 0, stream>>>(out, in, rows, length);
}
