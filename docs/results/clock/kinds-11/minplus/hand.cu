#include <cuda_runtime.h>
// Tiles of 64 by 64 through shared memory, 16 deep, the next one read while this one is worked on; a thread keeps 4 by 4
// minima in registers. What lies outside is farther than any path.
constexpr int FAR = 0x3fffffff;
__global__ void __launch_bounds__(256) product(int *__restrict__ out, const int *__restrict__ a,
                                               const int *__restrict__ b, int m, int n, int k)
{
    __shared__ int left[2][16][68];
    __shared__ int right[2][16][64];
    int t = threadIdx.x, row = blockIdx.y * 64, col = blockIdx.x * 64, x = t % 16 * 4, y = t / 16 * 4;
    int least[4][4], u[4], v[4];
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
            least[i][j] = 0x7fffffff;
    for (int base = -16, part = 0; base < k; base += 16, part ^= 1) {
        int next = base + 16;
#pragma unroll
        for (int e = 0; e < 4; e++) {
            int r = row + t / 16 + 16 * e, i = next + t % 16, c = col + t % 64, j = next + t / 64 + 4 * e;
            u[e] = r < m && i < k ? a[(long long)r * k + i] : FAR;
            v[e] = j < k && c < n ? b[(long long)j * n + c] : FAR;
        }
        if (base >= 0) {
#pragma unroll
            for (int i = 0; i < 16; i++) {
                int4 p = *(int4 *)&left[part][i][y], q = *(int4 *)&right[part][i][x];
                int p4[4] = {p.x, p.y, p.z, p.w}, q4[4] = {q.x, q.y, q.z, q.w};
#pragma unroll
                for (int r = 0; r < 4; r++)
#pragma unroll
                    for (int c = 0; c < 4; c++)
                        least[r][c] = min(least[r][c], p4[r] + q4[c]);
            }
        }
#pragma unroll
        for (int e = 0; e < 4; e++) {
            left[part ^ 1][t % 16][t / 16 + 16 * e] = u[e];
            right[part ^ 1][t / 64 + 4 * e][t % 64] = v[e];
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < 4; r++)
#pragma unroll
        for (int c = 0; c < 4; c++)
            if (row + y + r < m && col + x + c < n)
                out[(long long)(row + y + r) * n + col + x + c] = least[r][c];
}
extern "C" void minplus(int *out, const int *a, const int *b, int m, int n, int k, cudaStream_t stream)
{
    product<<<dim3((n + 63) / 64, (m + 63) / 64), 256, 0, stream>>>(out, a, b, m, n, k);
}
