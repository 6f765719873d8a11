// right: tiles of 32 by 32 are brought by cp.async, four bytes each, into places that are turned by exclusive or (no padding, no conflicts), and stored along the slots.
#include <cuda_pipeline.h>

constexpr int T = 32, Y = 8;

__global__ void __launch_bounds__(T *Y) put_kernel(float *__restrict__ cache, const float *__restrict__ in, int rows, int slots, int d)
{
    __shared__ float tile[T][T];
    const int slot0 = blockIdx.x * T, column0 = blockIdx.y * T, x = threadIdx.x;
    const size_t head = blockIdx.z;
    const float *from = in + head * rows * d;
    float *to = cache + head * slots * d;
#pragma unroll
    for (int j = threadIdx.y; j < T; j += Y)
        if (slot0 + j < rows && column0 + x < d)
            __pipeline_memcpy_async(&tile[j][x ^ j], from + (size_t)(slot0 + j) * d + column0 + x, sizeof(float));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
#pragma unroll
    for (int j = threadIdx.y; j < T; j += Y)
        if (column0 + j < d && slot0 + x < rows)
            to[(size_t)(column0 + j) * slots + slot0 + x] = tile[x][j ^ x];
}

extern "C" void cache_put(float *cache, const float *in, int rows, int slots, int d, int heads, cudaStream_t stream)
{
    dim3 grid((rows + T - 1) / T, (d + T - 1) / T, heads);
    put_kernel<<<grid, dim3(T, Y), 0, stream>>>(cache, in, rows, slots, d);
}
