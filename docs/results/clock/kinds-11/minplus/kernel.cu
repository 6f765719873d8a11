#include <cuda_runtime.h>
// The product of two matrices where sums are minima and products are sums, as shortest paths need it; a thread an
// element.
__global__ void product(int *out, const int *a, const int *b, int m, int n, int k)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || col >= n)
        return;
    int least = 0x7fffffff;
    for (int i = 0; i < k; i++)
        least = min(least, a[(long long)row * k + i] + b[(long long)i * n + col]);
    out[(long long)row * n + col] = least;
}
extern "C" void minplus(int *out, const int *a, const int *b, int m, int n, int k, cudaStream_t stream)
{
    product<<<dim3((n + 31) / 32, (m + 7) / 8), dim3(32, 8), 0, stream>>>(out, a, b, m, n, k);
}
