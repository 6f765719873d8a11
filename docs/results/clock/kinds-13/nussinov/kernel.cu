#include <cuda_runtime.h>
// How many pairs of bases an RNA can have at most when it folds without knots (Nussinov): all stretches from the short
// ones to the whole, each split at its best place. A block a strand, a thread a stretch of the present length.
__global__ void fold(int *pairs, const unsigned char *base, int *table, int len)
{
    const unsigned char *strand = base + (long long)blockIdx.x * len;
    int *best = table + (long long)blockIdx.x * len * len;
    int i = threadIdx.x;
    for (int span = 0; span < len; span++) {
        int j = i + span;
        if (j < len) {
            int most = 0;
            for (int k = i; k < j; k++)
                most = max(most, best[i * len + k] + best[(k + 1) * len + j]);
            if (span > 3) {
                int two = strand[i] * 4 + strand[j];
                bool fits = two == 3 || two == 12 || two == 6 || two == 9 || two == 11 || two == 14;
                if (fits)
                    most = max(most, best[(i + 1) * len + j - 1] + 1);
            }
            best[i * len + j] = most;
        }
        __syncthreads();
    }
    if (i == 0)
        pairs[blockIdx.x] = best[len - 1];
}
extern "C" void nussinov(int *pairs, const unsigned char *base, int *table, int n, int len, cudaStream_t stream)
{
    fold<<<n, 128, 0, stream>>>(pairs, base, table, len);
}
