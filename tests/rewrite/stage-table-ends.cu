// A thread that has found what it looks for stays to move the table, and the block ends when all have.
// transform: stage-table 4
// applies: line 18
// has: bool going_0 = inside;
// has: if (!__syncthreads_or(going_0))
// has: if (going_0) {
// has: { going_0 = false; break; }
// has: float d = x[i] - y_table[k - from];
// lacks: y[k]
#include <cstdint>

__global__ void near(int *out, int *count, const float *x, const float *y, int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int found = 0;
    for (int k = 0; k < m; k++) {
        float d = x[i] - y[k];
        if (d * d < 0.25f) {
            out[i * 8 + found] = k;
            found++;
            if (found == 8)
                break;
        }
    }
    count[i] = found;
}

extern "C" void entry(int *out, int *count, const float *x, const float *y, int n, int m, cudaStream_t stream)
{
    near<<<(n + 255) / 256, 256, 0, stream>>>(out, count, x, y, n, m);
}
