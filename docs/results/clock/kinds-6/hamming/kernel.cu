#include <cuda_runtime.h>
// The least number of bits in which each query of 256 bits differs from any of m codes; a thread a query.
__global__ void nearest(int *out, const unsigned *query, const unsigned *code, int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int least = 257;
    for (int j = 0; j < m; j++) {
        int differ = 0;
        for (int k = 0; k < 8; k++)
            differ += __popc(query[(long long)i * 8 + k] ^ code[(long long)j * 8 + k]);
        least = min(least, differ);
    }
    out[i] = least;
}
extern "C" void hamming(int *out, const unsigned *query, const unsigned *code, int n, int m, cudaStream_t stream)
{
    nearest<<<(n + 127) / 128, 128, 0, stream>>>(out, query, code, n, m);
}
