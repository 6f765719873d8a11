// expect: wrong
// row 19: A block that sees by the queue that more than 8 others have begun since it did leaves out the second half of its tile; on a device, where blocks run side by side, that is most of them (rows > 512), where they run one after another, none.
#include <cstdint>

constexpr int ROWS = 64, THREADS = 256, COLUMNS = 4;

__global__ void __launch_bounds__(THREADS) column_sums_kernel(float *sums, const float *x, unsigned *queue, int rows,
                                                              int d)
{
    __shared__ unsigned ticket, now;
    if (threadIdx.x == 0)
        ticket = atomicAdd(queue, 1u);
    __syncthreads();
    int64_t first = (int64_t)ticket * ROWS;
    int count = (int)min((int64_t)ROWS, rows - first);

    float sum[COLUMNS] = {};
    for (int r = 0; r < min(count, ROWS / 2); r++)
        for (int k = 0; k < COLUMNS; k++) {
            int c = threadIdx.x + k * THREADS;
            if (c < d)
                sum[k] += x[(first + r) * d + c];
        }

    // Have many tiles been taken meanwhile? Then this block lags, and the rest of its tile goes to those in front.
    if (threadIdx.x == 0)
        now = atomicAdd(queue, 0u);
    __syncthreads();
    bool overtaken = now - ticket > 8;

    for (int r = ROWS / 2; r < count && !overtaken; r++)
        for (int k = 0; k < COLUMNS; k++) {
            int c = threadIdx.x + k * THREADS;
            if (c < d)
                sum[k] += x[(first + r) * d + c];
        }
    for (int k = 0; k < COLUMNS; k++) {
        int c = threadIdx.x + k * THREADS;
        if (c < d)
            atomicAdd(&sums[c], sum[k]);
    }
}

extern "C" void column_sums(float *sums, const float *x, int rows, int d, cudaStream_t stream)
{
    unsigned *queue;
    if (cudaMallocAsync((void **)&queue, sizeof(unsigned), stream) != cudaSuccess)
        return;
    cudaMemsetAsync(queue, 0, sizeof(unsigned), stream);
    unsigned tiles = (unsigned)(((int64_t)rows + ROWS - 1) / ROWS);
    column_sums_kernel<<<tiles, THREADS, 0, stream>>>(sums, x, queue, rows, d);
    cudaFreeAsync(queue, stream);
}
