// expect: correct
// A half is a whole number of 2^-24, 2^40 of them at most: 65536 of them add in 64 bits without any error, in any order. Columns by 32, tokens by 8 warps.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void mean_pool_kernel(float *out, const __half *x, const int *length, int tokens, int d)
{
    __shared__ long long part[8][33];
    int b = blockIdx.x, n = length[b], lane = threadIdx.x, warp = threadIdx.y, c = blockIdx.y * 32 + lane;
    long long sum = 0;
    if (c < d)
        for (int t = warp; t < n; t += 8)
            sum += __float2ll_rn(__half2float(x[((int64_t)b * tokens + t) * d + c]) * 16777216.0f);
    part[warp][lane] = sum;
    __syncthreads();
    if (warp == 0 && c < d) {
        for (int i = 1; i < 8; i++)
            sum += part[i][lane];
        out[(int64_t)b * d + c] = n ? __ll2float_rn(sum) * 5.9604644775390625e-8f / n : 0.0f;
    }
}

extern "C" void mean_pool(float *out, const __half *x, const int *length, int batch, int tokens, int d,
                          cudaStream_t stream)
{
    mean_pool_kernel<<<dim3(batch, (d + 31) / 32), dim3(32, 8), 0, stream>>>(out, x, length, tokens, d);
}
