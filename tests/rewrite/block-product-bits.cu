// Unlike bits of words: unsigned elements whose bits alone are counted, in a sum with a sign.
// transform: block-product 64064
// applies: line 13
// has: sums[i][j] += __popc((x[i] ^ y[j]));
#include <cstdint>

__global__ void work(int *out, const uint32_t *a, const uint32_t *b, int n, int m, int words)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || j >= m)
        return;
    int s = 0;
    for (int k = 0; k < words; k++)
        s += __popc(a[(long long)i * words + k] ^ b[(long long)j * words + k]);
    out[(long long)i * m + j] = s;
}

extern "C" void entry(int *out, const uint32_t *a, const uint32_t *b, int n, int m, int words, cudaStream_t stream)
{
    dim3 block(16, 16), grid((m + 15) / 16, (n + 15) / 16);
    work<<<grid, block, 0, stream>>>(out, a, b, n, m, words);
}
