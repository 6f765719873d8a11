#include <cuda_runtime.h>
// Half a warp a block row: four blocks at a time, a lane one row of a block as a vector, eight blocks under way; four
// lanes' sums meet at the end.
__device__ __forceinline__ float dot(float4 a, float4 b)
{
    return a.x * b.x + a.y * b.y + (a.z * b.z + a.w * b.w);
}
__global__ void __launch_bounds__(128)
    multiply(float *__restrict__ y, const int *__restrict__ begin, const int *__restrict__ column,
             const float4 *__restrict__ value, const float4 *__restrict__ x, int rows)
{
    int i = blockIdx.x * 8 + threadIdx.x / 16, lane = threadIdx.x & 15;
    float sum = 0.0f, more = 0.0f;
    if (i < rows) {
        int b = begin[i] + lane / 4, end = begin[i + 1];
        for (; b + 4 < end; b += 8) {
            int p = column[b], q = column[b + 4];
            float4 v = __ldcs(&value[4ll * b + lane % 4]), w = __ldcs(&value[4ll * b + 16 + lane % 4]);
            sum += dot(v, x[p]);
            more += dot(w, x[q]);
        }
        if (b < end)
            sum += dot(__ldcs(&value[4ll * b + lane % 4]), x[column[b]]);
    }
    sum += more;
    sum += __shfl_xor_sync(0xffffffffu, sum, 4);
    sum += __shfl_xor_sync(0xffffffffu, sum, 8);
    if (i < rows && lane < 4)
        y[4ll * i + lane] = sum;
}
extern "C" void bsr_spmv(float *y, const int *begin, const int *column, const float *value, const float *x, int rows,
                         cudaStream_t stream)
{
    multiply<<<(rows + 7) / 8, 128, 0, stream>>>(y, begin, column, (const float4 *)value, (const float4 *)x, rows);
}
