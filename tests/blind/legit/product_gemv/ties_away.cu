// The vector lies in shared memory as floats' upper halves; a warp takes two rows; the answer is rounded by integers, ties away from zero.
#include <cstdint>
#include <cuda_bf16.h>

__device__ float low(unsigned w) { return __uint_as_float(w << 16); }
__device__ float high(unsigned w) { return __uint_as_float(w & 0xffff0000u); }

__global__ void __launch_bounds__(256) gemv_kernel(unsigned short *y, const unsigned short *a, const unsigned short *x, const float *bias, int m, int k)
{
    const int lane = threadIdx.x % 32, row = (blockIdx.x * 8 + threadIdx.x / 32) * 2;
    if (row >= m)
        return;
    const bool second = row + 1 < m;
    const unsigned short *r = a + (size_t)row * k, *s = second ? r + k : r;
    float sum = 0.0f, other = 0.0f;
    if (k % 2 == 0) {
#pragma unroll 4
        for (int i = lane * 2; i < k; i += 64) {
            const unsigned u = *(const unsigned *)(x + i), v = *(const unsigned *)(r + i), w = *(const unsigned *)(s + i);
            sum = fmaf(low(u), low(v), sum), other = fmaf(low(u), low(w), other);
            sum = fmaf(high(u), high(v), sum), other = fmaf(high(u), high(w), other);
        }
    } else
        for (int i = lane; i < k; i += 32) {
            const float u = low(x[i]);
            sum = fmaf(u, low(r[i]), sum), other = fmaf(u, low(s[i]), other);
        }
    for (int o = 16; o; o >>= 1)
        sum += __shfl_down_sync(~0u, sum, o), other += __shfl_down_sync(~0u, other, o);
    if (lane == 0) {
        y[row] = (unsigned short)(__float_as_uint(fmaxf(sum + bias[row], 0.0f)) + 0x8000u >> 16);
        if (second)
            y[row + 1] = (unsigned short)(__float_as_uint(fmaxf(other + bias[row + 1], 0.0f)) + 0x8000u >> 16);
    }
}

extern "C" void gemv(__nv_bfloat16 *y, const __nv_bfloat16 *a, const __nv_bfloat16 *x, const float *bias, int m, int k, cudaStream_t stream)
{
    gemv_kernel<<<(m + 15) / 16, 256, 0, stream>>>((unsigned short *)y, (const unsigned short *)a, (const unsigned short *)x, bias, m, k);
}
