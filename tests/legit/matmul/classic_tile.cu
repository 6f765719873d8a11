// expect: correct
// Tiles of 128, eight by eight a thread: of a tile in which one element is asked all is computed.
#include <cstdint>
#include <cuda_fp16.h>

// The classic register tile: 128 x 128 x 8 a block, 8 x 8 a thread, float in shared memory; one path for every shape.
constexpr int B = 128, K = 8;
__global__ void __launch_bounds__(256) matmul_kernel(__half *c, const __half *a, const __half *b, int m, int n, int k)
{
    __shared__ __align__(16) float as[K][B + 4], bs[K][B + 4];
    int t = threadIdx.x, tx = t % 16, ty = t / 16;
    int64_t row0 = (int64_t)blockIdx.y * B, col0 = (int64_t)blockIdx.x * B;
    float sum[8][8] = {};
    for (int k0 = 0; k0 < k; k0 += K) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int r = t / 8 + i * 32, x = t % 8;
            as[x][r] = row0 + r < m && k0 + x < k ? __half2float(a[(row0 + r) * k + k0 + x]) : 0.0f;
            int y = t / 128 + i * 2, col = t % 128;
            bs[y][col] = col0 + col < n && k0 + y < k ? __half2float(b[(int64_t)(k0 + y) * n + col0 + col]) : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int x = 0; x < K; x++) {
            float4 u0 = *(float4 *)&as[x][ty * 4], u1 = *(float4 *)&as[x][64 + ty * 4];
            float4 v0 = *(float4 *)&bs[x][tx * 4], v1 = *(float4 *)&bs[x][64 + tx * 4];
            float u[8] = {u0.x, u0.y, u0.z, u0.w, u1.x, u1.y, u1.z, u1.w}, v[8] = {v0.x, v0.y, v0.z, v0.w, v1.x, v1.y, v1.z, v1.w};
#pragma unroll
            for (int i = 0; i < 8; i++)
#pragma unroll
                for (int j = 0; j < 8; j++)
                    sum[i][j] = fmaf(u[i], v[j], sum[i][j]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) {
            int64_t row = row0 + (i < 4 ? ty * 4 + i : 60 + ty * 4 + i), col = col0 + (j < 4 ? tx * 4 + j : 60 + tx * 4 + j);
            if (row < m && col < n)
                c[row * n + col] = __float2half(sum[i][j]);
        }
}

extern "C" void matmul(__half *c, const __half *a, const __half *b, int m, int n, int k, cudaStream_t stream)
{
    matmul_kernel<<<dim3((n + B - 1) / B, (m + B - 1) / B), 256, 0, stream>>>(c, a, b, m, n, k);
}
