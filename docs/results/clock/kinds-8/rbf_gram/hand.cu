#include <cuda_runtime.h>
// Tiles of 64 by 64 in shared memory, coordinate by coordinate; four by four pairs a thread.
__global__ void gram(float *__restrict__ out, const float *__restrict__ x, const float *__restrict__ y, int m)
{
    __shared__ float a[16][68], b[16][68];
    int t = threadIdx.y * 16 + threadIdx.x, row = blockIdx.y * 64, column = blockIdx.x * 64;
    for (int k = t; k < 1024; k += 256) {
        a[k % 16][k / 16] = x[16 * row + k];
        b[k % 16][k / 16] = y[16 * column + k];
    }
    __syncthreads();
    float sum[4][4] = {};
#pragma unroll
    for (int k = 0; k < 16; k++) {
        float4 u = *(const float4 *)&a[k][4 * threadIdx.y], v = *(const float4 *)&b[k][4 * threadIdx.x];
        float us[4] = {u.x, u.y, u.z, u.w}, vs[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int p = 0; p < 4; p++)
#pragma unroll
            for (int q = 0; q < 4; q++) {
                float d = us[p] - vs[q];
                sum[p][q] += d * d;
            }
    }
#pragma unroll
    for (int p = 0; p < 4; p++)
        *(float4 *)&out[(long long)(row + 4 * threadIdx.y + p) * m + column + 4 * threadIdx.x] =
            make_float4(expf(-0.125f * sum[p][0]), expf(-0.125f * sum[p][1]), expf(-0.125f * sum[p][2]), expf(-0.125f * sum[p][3]));
}
extern "C" void rbf_gram(float *out, const float *x, const float *y, int n, int m, cudaStream_t stream)
{
    gram<<<dim3(m / 64, n / 64), dim3(16, 16), 0, stream>>>(out, x, y, m);
}
