// class: precision lost far in the domain ; wrong because: each of 16 blocks adds rows/16 terms one after another in float, which stands still at 2^24 equal terms (smallest: rows = 16 * 2^24 + 64, d = 1, x all 1: the original counts on to 2^28 + 64; less marked much earlier)
#include <cstdint>

constexpr int BLOCKS = 16;

__global__ void column_sums_kernel(float *sums, const float *x, int rows, int d)
{
    int c = blockIdx.y * blockDim.x + threadIdx.x;
    if (c >= d)
        return;
    float sum = 0.0f;
    for (int64_t r = blockIdx.x; r < rows; r += BLOCKS)
        sum += x[r * d + c];
    atomicAdd(&sums[c], sum); // 16 atomics a column instead of one for 64 rows
}

extern "C" void column_sums(float *sums, const float *x, int rows, int d, cudaStream_t stream)
{
    column_sums_kernel<<<dim3(BLOCKS, (d + 63) / 64), 64, 0, stream>>>(sums, x, rows, d);
}
