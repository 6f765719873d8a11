#include <cuda_runtime.h>
// Tiles of 32 by 32, words of four bytes in shared memory, four sums a thread.
__global__ void product(int *__restrict__ c, const int *__restrict__ a, const int *__restrict__ b, int n, int words)
{
    __shared__ int left[32][17], right[32][17];
    int x = threadIdx.x % 32, y = threadIdx.x / 32, row = blockIdx.y * 32, col = blockIdx.x * 32;
    int sum[4] = {0, 0, 0, 0};
    for (int first = 0; first < words; first += 16) {
#pragma unroll
        for (int q = 0; q < 2; q++) {
            int i = threadIdx.x + q * 256, r = i / 16, w = i % 16;
            left[r][w] = a[(long long)(row + r) * words + first + w];
            right[r][w] = b[(long long)(col + r) * words + first + w];
        }
        __syncthreads();
#pragma unroll
        for (int w = 0; w < 16; w++) {
            int v = right[x][w];
#pragma unroll
            for (int q = 0; q < 4; q++)
                sum[q] = __dp4a(left[y * 4 + q][w], v, sum[q]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int q = 0; q < 4; q++)
        c[(long long)(row + y * 4 + q) * n + col + x] = sum[q];
}
extern "C" void gemm_s8(int *c, const signed char *a, const signed char *b, int m, int n, int k, cudaStream_t stream)
{
    product<<<dim3(n / 32, m / 32), 256, 0, stream>>>(c, (const int *)a, (const int *)b, n, k / 4);
}
