// Right: 2 to 32 lanes work on a row, by the mean number of nonzeros, so that short rows leave no lanes idle; what is long
// for them is put off and done by the whole warp, one row after another. Rows beyond the last are taken as empty and nobody
// returns early: all lanes are there for the shuffles.
#include <cstdint>

template <int LANES>
__global__ void __launch_bounds__(128)
    spmv_lanes(float *__restrict__ y, const int *__restrict__ start, const int *__restrict__ column,
               const float *__restrict__ value, const float *__restrict__ x, int rows)
{
    const int thread = blockIdx.x * 128 + threadIdx.x;
    const int row = thread / LANES, lane = thread % LANES;
    int begin = 0, end = 0;
    if (row < rows) {
        begin = start[row];
        end = start[row + 1];
    }
    const bool wide = end - begin > 8 * LANES;
    float sum = 0.0f;
    if (!wide) {
        for (int i = begin + lane; i < end; i += LANES)
            sum += value[i] * x[column[i]];
    }
#pragma unroll
    for (int step = LANES / 2; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (lane == 0 && row < rows && !wide)
        y[row] = sum;

    unsigned left = __ballot_sync(0xffffffffu, wide && lane == 0);
    while (left != 0) { // the same for all lanes of the warp
        const int leader = __ffs(left) - 1;
        left &= left - 1;
        const int first = __shfl_sync(0xffffffffu, begin, leader);
        const int last = __shfl_sync(0xffffffffu, end, leader);
        const int target = __shfl_sync(0xffffffffu, row, leader);
        float total = 0.0f;
        for (int i = first + (int)(threadIdx.x % 32); i < last; i += 32)
            total += value[i] * x[column[i]];
#pragma unroll
        for (int step = 16; step > 0; step /= 2)
            total += __shfl_xor_sync(0xffffffffu, total, step);
        if (threadIdx.x % 32 == 0)
            y[target] = total;
    }
}

extern "C" void csr_spmv(float *y, const int *start, const int *column, const float *value, const float *x, int rows,
                         int nonzeros, cudaStream_t stream)
{
    const int mean = nonzeros / rows;
    if (mean >= 48)
        spmv_lanes<32><<<(rows + 3) / 4, 128, 0, stream>>>(y, start, column, value, x, rows);
    else if (mean >= 12)
        spmv_lanes<8><<<(rows + 15) / 16, 128, 0, stream>>>(y, start, column, value, x, rows);
    else
        spmv_lanes<2><<<(rows + 63) / 64, 128, 0, stream>>>(y, start, column, value, x, rows);
}
