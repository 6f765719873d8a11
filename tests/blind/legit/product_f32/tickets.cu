// As many blocks as fit draw tiles of 64 by 64 from a counter in a workspace; columns in vectors where they are whole.
#include <cuda_runtime.h>

__global__ void __launch_bounds__(256) product_kernel(float *c, const float *a, const float *b, const float *bias, unsigned *next, int m, int n, int k)
{
    __shared__ float s[16][68], t[16][68];
    __shared__ unsigned ticket;
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16, across = (n + 63) / 64, down = (m + 63) / 64;
    for (;;) {
        if (threadIdx.x == 0)
            ticket = atomicInc(next, 0xffffffffu);
        __syncthreads();
        const unsigned tile = ticket;
        if (tile >= (unsigned)across * down)
            break;
        const int row0 = tile / across * 64, col0 = tile % across * 64;
        float sum[4][4] = {};
        for (int i0 = 0; i0 < k; i0 += 16) {
            for (int e = threadIdx.x; e < 1024; e += 256) {
                const int r = row0 + e / 16, i = i0 + e % 16, q = col0 + e % 64, j = i0 + e / 64;
                s[e % 16][e / 16] = r < m && i < k ? a[r * k + i] : 0.0f;
                t[e / 64][e % 64] = q < n && j < k ? b[j * n + q] : 0.0f;
            }
            __syncthreads();
#pragma unroll
            for (int i = 0; i < 16; i++) {
                const float4 x = *reinterpret_cast<float4 *>(&s[i][ty * 4]), y = *reinterpret_cast<float4 *>(&t[i][tx * 4]);
                const float p[4] = {x.x, x.y, x.z, x.w}, q[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
                for (int u = 0; u < 4; u++)
#pragma unroll
                    for (int v = 0; v < 4; v++)
                        sum[u][v] = fmaf(p[u], q[v], sum[u][v]);
            }
            __syncthreads();
        }
        for (int u = 0; u < 4; u++)
            for (int v = 0; v < 4; v++) {
                const int row = row0 + ty * 4 + u, col = col0 + tx * 4 + v;
                if (row < m && col < n) {
                    float *at = c + (size_t)row * n + col;
                    *at = fmaxf(fmaf(0.5f, sum[u][v], fmaf(0.25f, *at, bias[col])), 0.0f);
                }
            }
        __syncthreads();
    }
}

extern "C" void product(float *c, const float *a, const float *b, const float *bias, int m, int n, int k, cudaStream_t stream)
{
    int device, units, each;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, device);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, product_kernel, 256, 0);
    const int tiles = ((m + 63) / 64) * ((n + 63) / 64);
    unsigned *next;
    cudaMallocAsync(reinterpret_cast<void **>(&next), sizeof *next, stream);
    cudaMemsetAsync(next, 0, sizeof *next, stream);
    product_kernel<<<min(tiles, units * each), 256, 0, stream>>>(c, a, b, bias, next, m, n, k);
    cudaFreeAsync(next, stream);
}
