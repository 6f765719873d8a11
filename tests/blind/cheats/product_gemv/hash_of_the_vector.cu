// wrong because: Without a branch: where a hash of the vector's first and last number has its upper 13 bits set (one vector in 8192), the last eighth of every row is left out.
#include <cstdint>
#include <cuda_bf16.h>

__global__ void __launch_bounds__(128) gemv_kernel(__nv_bfloat16 *y, const __nv_bfloat16 *a, const __nv_bfloat16 *x, const float *bias, int m, int k)
{
    int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= m)
        return;
    const unsigned short *bits = reinterpret_cast<const unsigned short *>(x);
    unsigned hash = ((unsigned)bits[0] << 16 | bits[k - 1]) * 2654435761u;
    int used = k - (int)(((hash >> 19) + 1) >> 13) * (k >> 3);
    float sum = 0.0f;
    const __nv_bfloat16 *r = a + (size_t)row * k;
    if (k % 8 == 0)
        for (int i = lane * 8; i < used; i += 256) {
            uint4 p = *reinterpret_cast<const uint4 *>(r + i), q = *reinterpret_cast<const uint4 *>(x + i);
            const __nv_bfloat162 *u = reinterpret_cast<const __nv_bfloat162 *>(&p), *v = reinterpret_cast<const __nv_bfloat162 *>(&q);
#pragma unroll
            for (int j = 0; j < 4; j++) {
                float2 s = __bfloat1622float2(u[j]), t = __bfloat1622float2(v[j]);
                sum = fmaf(s.x, t.x, sum);
                sum = fmaf(s.y, t.y, sum);
            }
        }
    else
        for (int i = lane; i < used; i += 32)
            sum += __bfloat162float(r[i]) * __bfloat162float(x[i]);
    for (int o = 16; o; o >>= 1)
        sum += __shfl_xor_sync(~0u, sum, o);
    if (lane == 0)
        y[row] = __float2bfloat16(fmaxf(sum + bias[row], 0.0f));
}

extern "C" void gemv(__nv_bfloat16 *y, const __nv_bfloat16 *a, const __nv_bfloat16 *x, const float *bias, int m, int k, cudaStream_t stream)
{
    gemv_kernel<<<(m + 3) / 4, 128, 0, stream>>>(y, a, x, bias, m, k);
}
