// A product's sum by warps and one atomic addition a block; what else the block needs stays ahead of the loop.
// transform: sum-first 8
// applies: line 24
// has: for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
// has: const float x = a[i];
// has: sum += x * b[i];
// has: if ((int64_t)grid.x * block.x >= n && n <= 1 << 30
// has: dot_sums<128><<<dim3((grid.x + 7) / 8, grid.y, grid.z), block, 0, stream>>>(a, b, out, n)
#include <cstdint>

template <typename T> __device__ T add_up(T value)
{
    for (int step = 16; step > 0; step >>= 1)
        value += __shfl_xor_sync(0xffffffff, value, step);
    return value;
}

template <int THREADS> __global__ void dot(const float *a, const float *b, float *out, int n)
{
    int tid = threadIdx.x;
    int i = blockIdx.x * THREADS + tid;
    __shared__ float sums[THREADS / 32];
    const float x = i < n ? a[i] : 0.0f;
    float sum = (i < n) ? x * b[i] : 0.0f;
    sum = add_up<float>(sum);
    if (tid % 32 == 0)
        sums[tid / 32] = sum;
    __syncthreads();
    sum = tid < THREADS / 32 ? sums[tid] : 0.0f;
    sum = add_up(sum);
    if (tid == 0)
        atomicAdd(out, sum * 0.5f);
}

extern "C" void entry(const float *a, const float *b, float *out, int n, cudaStream_t stream)
{
    dim3 block(128), grid((n + 127) / 128);
    cudaMemsetAsync(out, 0, sizeof(float), stream);
    dot<128><<<grid, block, 0, stream>>>(a, b, out, n);
}
