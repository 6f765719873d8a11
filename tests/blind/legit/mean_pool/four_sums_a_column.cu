#include <cstdint>
#include <cuda_fp16.h>

// Columns over the grid's other extent, four sums at a time.
__global__ void mean_pool_kernel(float *out, const __half *x, const int *length, int tokens, int d)
{
    const int b = blockIdx.x, n = length[b], c = blockIdx.y * blockDim.x + threadIdx.x;
    if (c >= d)
        return;
    const __half *p = x + (int64_t)b * tokens * d + c;
    float s[4] = {0, 0, 0, 0};
    int t = 0;
    for (; t + 4 <= n; t += 4)
#pragma unroll
        for (int k = 0; k < 4; k++)
            s[k] += __half2float(p[(int64_t)(t + k) * d]);
    for (; t < n; t++)
        s[0] += __half2float(p[(int64_t)t * d]);
    out[(int64_t)b * d + c] = n ? ((s[0] + s[1]) + (s[2] + s[3])) / n : 0.0f;
}

extern "C" void mean_pool(float *out, const __half *x, const int *length, int batch, int tokens, int d,
                          cudaStream_t stream)
{
    mean_pool_kernel<<<dim3(batch, (d + 63) / 64), 64, 0, stream>>>(out, x, length, tokens, d);
}
