// Rows that a turn writes and reads at another place, sums that all threads add to, and what is stored ahead of the loop.
// transform: stage-loop 32
// leaves
#include <cuda_runtime.h>

__global__ void back(float *rows_of, int rows, int d)
{
    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    for (int k = 1; k < d; k++)
        rows_of[r * d + k] += rows_of[r * d + k - 1];
}

__global__ void counts(int *count, const float *in, int rows, int d)
{
    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    for (int k = 0; k < d; k++)
        atomicAdd(&count[0], in[r * d + k] > 0.0f);
}

__global__ void ahead(float *out, const float *in, int rows, int d)
{
    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    out[r] = 0.0f;
    float sum = 0.0f;
    for (int k = 0; k < d; k++)
        sum += in[r * d + k];
    out[r] = sum;
}

extern "C" void entry(float *out, float *rows_of, int *count, const float *in, int rows, int d, cudaStream_t stream)
{
    back<<<(rows + 63) / 64, 64, 0, stream>>>(rows_of, rows, d);
    counts<<<(rows + 63) / 64, 64, 0, stream>>>(count, in, rows, d);
    ahead<<<(rows + 63) / 64, 64, 0, stream>>>(out, in, rows, d);
}
