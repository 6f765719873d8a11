#include <cuda_runtime.h>
// A warp a row, a word of eight nibbles a lane at a time.
__global__ void rows_of_nibbles(float *__restrict__ out, const unsigned *__restrict__ q, const float *__restrict__ scale,
                                const float4 *__restrict__ x, int rows, int d)
{
    int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    const unsigned *from = q + (size_t)row * (d / 8);
    float sum = 0.0f;
#pragma unroll 4
    for (int k = lane; k < d / 8; k += 32) {
        unsigned b = from[k];
        float4 lo = x[2 * k], hi = x[2 * k + 1];
        sum += ((int)(b & 15) - 8) * lo.x + ((int)(b >> 4 & 15) - 8) * lo.y;
        sum += ((int)(b >> 8 & 15) - 8) * lo.z + ((int)(b >> 12 & 15) - 8) * lo.w;
        sum += ((int)(b >> 16 & 15) - 8) * hi.x + ((int)(b >> 20 & 15) - 8) * hi.y;
        sum += ((int)(b >> 24 & 15) - 8) * hi.z + ((int)(b >> 28) - 8) * hi.w;
    }
    for (int s = 16; s; s /= 2)
        sum += __shfl_xor_sync(~0u, sum, s);
    if (lane == 0)
        out[row] = sum * scale[row];
}
extern "C" void gemv_w4(float *out, const unsigned char *q, const float *scale, const float *x, int rows, int d, cudaStream_t stream)
{
    rows_of_nibbles<<<(rows + 3) / 4, 128, 0, stream>>>(out, (const unsigned *)q, scale, (const float4 *)x, rows, d);
}
