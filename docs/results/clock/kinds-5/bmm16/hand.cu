#include <cuda_runtime.h>
// A warp a product; both matrices in shared memory, a lane a row's eight values.
__global__ void small(float4 *__restrict__ c, const float4 *__restrict__ a, const float4 *__restrict__ b, int n)
{
    __shared__ float4 as[4][64], bs[4][64];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, i = blockIdx.x * 4 + warp;
    if (i >= n)
        return;
    as[warp][lane] = a[(long long)i * 64 + lane];
    as[warp][lane + 32] = a[(long long)i * 64 + lane + 32];
    bs[warp][lane] = b[(long long)i * 64 + lane];
    bs[warp][lane + 32] = b[(long long)i * 64 + lane + 32];
    __syncwarp();
    int row = lane / 2, half = lane % 2;
    const float *ra = (const float *)&as[warp][row * 4];
    float4 s0 = make_float4(0.0f, 0.0f, 0.0f, 0.0f), s1 = s0;
#pragma unroll
    for (int k = 0; k < 16; k++) {
        float x = ra[k];
        float4 p = bs[warp][k * 4 + half * 2], q = bs[warp][k * 4 + half * 2 + 1];
        s0.x += x * p.x;
        s0.y += x * p.y;
        s0.z += x * p.z;
        s0.w += x * p.w;
        s1.x += x * q.x;
        s1.y += x * q.y;
        s1.z += x * q.z;
        s1.w += x * q.w;
    }
    c[(long long)i * 64 + row * 4 + half * 2] = s0;
    c[(long long)i * 64 + row * 4 + half * 2 + 1] = s1;
}
extern "C" void bmm16(float *c, const float *a, const float *b, int n, cudaStream_t stream)
{
    small<<<(n + 3) / 4, 128, 0, stream>>>((float4 *)c, (const float4 *)a, (const float4 *)b, n);
}
