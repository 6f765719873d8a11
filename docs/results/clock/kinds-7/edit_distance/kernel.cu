#include <cuda_runtime.h>
// How many letters must change to make 64 letters of others; a thread a pair, a row of the table after the other.
__global__ void distance(int *out, const unsigned char *a, const unsigned char *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int row[65];
    for (int k = 0; k <= 64; k++)
        row[k] = k;
    for (int r = 0; r < 64; r++) {
        int corner = row[0];
        row[0] = r + 1;
        for (int k = 1; k <= 64; k++) {
            int best = min(min(row[k], row[k - 1]) + 1, corner + (a[(long long)i * 64 + r] != b[(long long)i * 64 + k - 1]));
            corner = row[k];
            row[k] = best;
        }
    }
    out[i] = row[64];
}
extern "C" void edit_distance(int *out, const unsigned char *a, const unsigned char *b, int n, cudaStream_t stream)
{
    distance<<<(n + 63) / 64, 64, 0, stream>>>(out, a, b, n);
}
