#include <cuda_runtime.h>
// A block of 32 bodies, eight warps that each take an eighth of every tile of 256 bodies in shared memory.
__global__ void attract(float *__restrict__ out, const float4 *__restrict__ body, int n)
{
    __shared__ float4 tile[256];
    __shared__ float sums[8][32][3];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, i = blockIdx.x * 32 + lane;
    float4 me = body[min(i, n - 1)];
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int first = 0; first < n; first += 256) {
        __syncthreads();
        tile[threadIdx.x] = first + threadIdx.x < n ? body[first + threadIdx.x] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        __syncthreads();
#pragma unroll 8
        for (int j = warp * 32; j < warp * 32 + 32; j++) {
            float4 b = tile[j];
            float dx = b.x - me.x, dy = b.y - me.y, dz = b.z - me.z;
            float d = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f), f = b.w * d * d * d;
            ax += f * dx;
            ay += f * dy;
            az += f * dz;
        }
    }
    sums[warp][lane][0] = ax;
    sums[warp][lane][1] = ay;
    sums[warp][lane][2] = az;
    __syncthreads();
    if (threadIdx.x < 96 && blockIdx.x * 32 + threadIdx.x / 3 < n) {
        float sum = 0.0f;
#pragma unroll
        for (int k = 0; k < 8; k++)
            sum += sums[k][threadIdx.x / 3][threadIdx.x % 3];
        out[blockIdx.x * 96 + threadIdx.x] = sum;
    }
}
extern "C" void nbody(float *out, const float *body, int n, cudaStream_t stream)
{
    attract<<<(n + 31) / 32, 256, 0, stream>>>(out, (const float4 *)body, n);
}
