// Rows of sixteen are read and rows of four written; threads beyond the last row leave, but stay to meet.
// transform: stage-rows 0
// applies: line 17
// has: const int rows_here = (int)min(64LL, (long long)n - first_row);
// has: in_rows[at / 16 * 17 + at % 16] = in[first_row * 16 + at];
// has: sum += in_rows[threadIdx.x * 17 + 4 * r + k];
// has: if (i < n) {
// has: out[first_row * 5 + at] = out_rows[at / 5 * 5 + at % 5];
#include <cuda_runtime.h>

__global__ void work(float *out, const float *__restrict__ in, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float *row = in + (size_t)i * 16;
    out[(size_t)i * 5 + 4] = row[0];
    for (int r = 0; r < 4; r++) {
        float sum = 0.0f;
        for (int k = 0; k < 4; k++)
            sum += row[r * 4 + k];
        out[(size_t)i * 5 + r] = sum;
    }
}

extern "C" void entry(float *out, const float *in, int n, cudaStream_t stream)
{
    work<<<(n + 63) / 64, 64, 0, stream>>>(out, in, n);
}
