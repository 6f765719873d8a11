// Bug: a thread walks through 8 nonzeros and steps to the next row where one ends, by `if` where `while` is needed.
// Shows where an empty row lies between two nonzeros of one thread (start[r] == start[r + 1], not at a multiple of 8):
// the sum of the row behind goes to the empty one.
#include <cstdint>

constexpr int EACH = 8;

__global__ void __launch_bounds__(128)
    spmv_even(float *y, const int *__restrict__ start, const int *__restrict__ column, const float *__restrict__ value,
              const float *__restrict__ x, int rows, int nonzeros)
{
    const int64_t first = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * EACH;
    if (first >= nonzeros)
        return;
    const int begin = (int)first;
    const int end = nonzeros - begin < EACH ? nonzeros : begin + EACH;
    // The last row that starts at or before `begin`.
    int low = 0, high = rows;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (start[middle] <= begin)
            low = middle;
        else
            high = middle;
    }
    int row = low;
    float sum = 0.0f;
    for (int i = begin; i < end; i++) {
        if (i == start[row + 1]) {
            atomicAdd(&y[row], sum);
            sum = 0.0f;
            row++;
        }
        sum += value[i] * x[column[i]];
    }
    atomicAdd(&y[row], sum);
}

extern "C" void csr_spmv(float *y, const int *start, const int *column, const float *value, const float *x, int rows,
                         int nonzeros, cudaStream_t stream)
{
    const int threads = (nonzeros + EACH - 1) / EACH;
    cudaMemsetAsync(y, 0, (size_t)rows * sizeof(float), stream);
    spmv_even<<<(threads + 127) / 128, 128, 0, stream>>>(y, start, column, value, x, rows, nonzeros);
}
