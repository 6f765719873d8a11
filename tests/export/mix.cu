#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void mix_kernel(__half *out, double *sum, const __nv_bfloat16 *in, const uint8_t *flags, const int64_t *steps,
                           float *scratch, int rows, int64_t d, float factor, __half bias, bool wide)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * d) {
        int64_t row = i / d, col = i % d;
        scratch[i] = __bfloat162float(in[row * 2 * d + col]) + __bfloat162float(in[row * 2 * d + d + col]);
        float x = flags[i] > 100 ? scratch[i] * factor : scratch[i];
        out[i] = __float2half(x + __half2float(bias));
        sum[i] += wide ? x : (double)steps[row];
    }
}

extern "C" cudaError_t mix(__half *out, double *sum, const __nv_bfloat16 *in, const uint8_t *flags, const int64_t *steps,
                           float *scratch, int rows, int64_t d, float factor, __half bias, bool wide, cudaStream_t stream)
{
    int n = rows * d;
    mix_kernel<<<(n + 31) / 32, 32, 0, stream>>>(out, sum, in, flags, steps, scratch, rows, d, factor, bias, wide);
    return cudaGetLastError();
}
