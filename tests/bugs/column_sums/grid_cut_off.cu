// expect: wrong words its blocks read
// row 12: The grid is cut to 65535 blocks and no loop takes the rest: rows beyond 4,194,240 are not added.
#include <cstdint>

constexpr int ROWS = 64;

__global__ void column_sums_kernel(float *sums, const float *x, int rows, int d)
{
    int64_t first = (int64_t)blockIdx.x * ROWS;
    for (int c = threadIdx.x; c < d; c += blockDim.x) {
        float sum = 0;
        for (int r = 0; r < ROWS && first + r < rows; r++)
            sum += x[(first + r) * d + c];
        atomicAdd(&sums[c], sum);
    }
}

extern "C" void column_sums(float *sums, const float *x, int rows, int d, cudaStream_t stream)
{
    int64_t blocks = ((int64_t)rows + ROWS - 1) / ROWS;
    column_sums_kernel<<<(unsigned)(blocks < 65535 ? blocks : 65535), 256, 0, stream>>>(sums, x, rows, d);
}
