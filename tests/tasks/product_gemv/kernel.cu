// y = relu(a x + bias), a thread a row.
#include <cuda_bf16.h>

__global__ void gemv_kernel(__nv_bfloat16 *y, const __nv_bfloat16 *a, const __nv_bfloat16 *x, const float *bias,
                            int m, int k)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m) {
        float sum = bias[row];
        for (int i = 0; i < k; i++)
            sum += __bfloat162float(a[(size_t)row * k + i]) * __bfloat162float(x[i]);
        y[row] = __float2bfloat16(fmaxf(sum, 0.0f));
    }
}

extern "C" void gemv(__nv_bfloat16 *y, const __nv_bfloat16 *a, const __nv_bfloat16 *x, const float *bias, int m,
                     int k, cudaStream_t stream)
{
    gemv_kernel<<<(m + 127) / 128, 128, 0, stream>>>(y, a, x, bias, m, k);
}
