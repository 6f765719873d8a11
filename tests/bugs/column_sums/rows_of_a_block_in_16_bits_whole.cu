// expect: wrong
// row 12: The rows of a block are counted in 16 bits: beyond 69 million rows some are left out.
#include <cstdint>

__global__ void column_sums_kernel(float *sums, const float *x, int rows, int d)
{
    int64_t per = ((int64_t)rows + gridDim.x - 1) / gridDim.x, first = blockIdx.x * per;
    unsigned short count = (unsigned short)(first >= rows ? 0 : rows - first < per ? rows - first : per);
    for (int c = threadIdx.x; c < d; c += blockDim.x) {
        float sum = 0;
        for (unsigned r = 0; r < count; r++)
            sum += x[(first + r) * d + c];
        if (count)
            atomicAdd(&sums[c], sum);
    }
}

extern "C" void column_sums(float *sums, const float *x, int rows, int d, cudaStream_t stream)
{
    int blocks = (rows + 63) / 64;
    column_sums_kernel<<<blocks < 1056 ? blocks : 1056, 256, 0, stream>>>(sums, x, rows, d);
}
