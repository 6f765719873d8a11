// wrong because: a row whose first columns sum to what looks hopelessly negative is given up as relu(...) = 0, though the rest may bring it back: m = 1, k = 2048, x = 1, a = -1 in the first 1024 columns and 2 behind them: 0 for 1024.
#include <cuda_bf16.h>

// A warp a row. Every 1024 columns: is what remains likely to lift the sum above zero?
__global__ void __launch_bounds__(128) gemv_kernel(__nv_bfloat16 *y, const __nv_bfloat16 *__restrict__ a, const __nv_bfloat16 *__restrict__ x,
                                                   const float *__restrict__ bias, int m, int k)
{
    int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= m)
        return;
    const __nv_bfloat16 *p = a + (size_t)row * k;
    float sum = lane == 0 ? bias[row] : 0.0f, squares = 0.0f;
    for (int base = 0; base < k; base += 1024) {
        int end = min(base + 1024, k);
        for (int i = base + lane; i < end; i += 32) {
            float t = __bfloat162float(p[i]) * __bfloat162float(x[i]);
            sum += t;
            squares += t * t;
        }
        if (end < k) {
            float all = sum, var = squares;
            for (int s = 16; s; s >>= 1) {
                all += __shfl_xor_sync(~0u, all, s);
                var += __shfl_xor_sync(~0u, var, s);
            }
            if (all + 8.0f * sqrtf(var * ((float)(k - end) / end)) < 0.0f) { // eight standard deviations
                if (lane == 0)
                    y[row] = __float2bfloat16(0.0f);
                return;
            }
        }
    }
    for (int s = 16; s; s >>= 1)
        sum += __shfl_xor_sync(~0u, sum, s);
    if (lane == 0)
        y[row] = __float2bfloat16(fmaxf(sum, 0.0f));
}

extern "C" void gemv(__nv_bfloat16 *y, const __nv_bfloat16 *a, const __nv_bfloat16 *x, const float *bias, int m,
                     int k, cudaStream_t stream)
{
    gemv_kernel<<<(m + 3) / 4, 128, 0, stream>>>(y, a, x, bias, m, k);
}
