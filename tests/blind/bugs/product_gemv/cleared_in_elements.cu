// wrong because: The workspace to which parts of rows are added is cleared for m bytes, not for m floats.
#include <cuda_bf16.h>

__global__ void __launch_bounds__(128) part_kernel(float *sums, const __nv_bfloat16 *a, const __nv_bfloat16 *x, int m, int k, int each)
{
    int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= m)
        return;
    int first = blockIdx.y * each, end = min(first + each, k);
    float sum = 0.0f;
    for (int i = first + lane; i < end; i += 32)
        sum += __bfloat162float(a[(size_t)row * k + i]) * __bfloat162float(x[i]);
    for (int o = 16; o; o >>= 1)
        sum += __shfl_xor_sync(~0u, sum, o);
    if (lane == 0)
        atomicAdd(sums + row, sum);
}

__global__ void end_kernel(__nv_bfloat16 *y, const float *sums, const float *bias, int m)
{
    int row = blockIdx.x * 128 + threadIdx.x;
    if (row < m)
        y[row] = __float2bfloat16(fmaxf(sums[row] + bias[row], 0.0f));
}

extern "C" void gemv(__nv_bfloat16 *y, const __nv_bfloat16 *a, const __nv_bfloat16 *x, const float *bias, int m, int k, cudaStream_t stream)
{
    float *sums;
    cudaMallocAsync((void **)&sums, m * sizeof(float), stream);
    cudaMemsetAsync(sums, 0, m, stream);
    int each = 1024;
    part_kernel<<<dim3((m + 3) / 4, (k + each - 1) / each), 128, 0, stream>>>(sums, a, x, m, k, each);
    end_kernel<<<(m + 127) / 128, 128, 0, stream>>>(y, sums, bias, m);
    cudaFreeAsync(sums, stream);
}
