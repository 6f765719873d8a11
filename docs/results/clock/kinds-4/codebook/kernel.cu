#include <cuda_runtime.h>
// The nearest of the codes, the first of equal ones; a thread a point.
__global__ void nearest(int *out, const int *x, const int *codes, int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int best = 0, least = 0x7fffffff;
    for (int c = 0; c < m; c++) {
        int sum = 0;
        for (int k = 0; k < 8; k++) {
            int away = x[(size_t)i * 8 + k] - codes[c * 8 + k];
            sum += away * away;
        }
        if (sum < least) {
            least = sum;
            best = c;
        }
    }
    out[i] = best;
}
extern "C" void codebook(int *out, const int *x, const int *codes, int n, int m, cudaStream_t stream)
{
    nearest<<<(n + 255) / 256, 256, 0, stream>>>(out, x, codes, n, m);
}
