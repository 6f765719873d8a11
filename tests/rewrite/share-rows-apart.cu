// Loops whose turns are apart: sums begin with nothing in all lanes but the first, and all have them behind the loop.
// transform: share-rows 8
// applies: line 20
// has: const unsigned int lanes = 0xffu << threadIdx.x % 32 / 8 * 8;
// has: for (int k = lane; k < d; k += 8)
// has: sum = lane > 0 ? 0 : sum;
// has: const float most_other = __shfl_xor_sync(lanes, most, by2, 8);
// has: most = most_other > most ? most_other : most;
// has: work_lanes<<<(rows + 15) / 16, 128, 0, stream>>>(out, total, in, rows, d);
#include <cuda_runtime.h>

__global__ void work(float *out, float *total, const float *in, int rows, int d)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    const float *row = in + (size_t)r * d;
    float most = -1e30f, sum = 1.0f;
#pragma unroll 4
    for (int k = 0; k < d; k++)
        if (row[k] > most)
            most = row[k];
    for (int k = 0; k < d; k++)
        sum += expf(row[k] - most);
    float by = 1.0f / sum;
    for (int k = 0; k < d; k++)
        out[(size_t)r * d + k] = expf(row[k] - most) * by;
    total[r] = sum;
}

extern "C" void entry(float *out, float *total, const float *in, int rows, int d, cudaStream_t stream)
{
    work<<<(rows + 127) / 128, 128, 0, stream>>>(out, total, in, rows, d);
}
