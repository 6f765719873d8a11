// wrong because: a segment that crosses a multiple of 128 rows is a difference of two prefixes, which has lost it when the rows in front are 2^53 times as large: rows 0 to 99 all 2^55, the others 1, segments [0, 100) and [100, 300), d = 1: 0 or a multiple of 512 for 200.
#include <cstddef>

constexpr int CHUNK = 128;

__device__ double upto(const double *sums, const float *in, int row, int d, int c)
{
    double sum = sums[(size_t)(row / CHUNK) * d + c];
    for (int r = row / CHUNK * CHUNK; r < row; r++)
        sum += in[(size_t)r * d + c];
    return sum;
}

__global__ void segment_kernel(float *out, const float *in, const double *sums, const int *ends, int d)
{
    int from = ends[blockIdx.x], to = ends[blockIdx.x + 1];
    for (int c = threadIdx.x; c < d; c += blockDim.x) {
        double sum = 0;
        if (from / CHUNK == to / CHUNK)
            for (int r = from; r < to; r++)
                sum += in[(size_t)r * d + c];
        else // at most 254 rows are read, however long the segment
            sum = upto(sums, in, to, d, c) - upto(sums, in, from, d, c);
        out[(size_t)blockIdx.x * d + c] = (float)sum;
    }
}

__global__ void rows_kernel(int *rows, const int *ends, int segments)
{
    *rows = ends[segments];
}

__global__ void chunks_kernel(double *sums, const float *in, const int *rows, int d)
{
    // the number of rows is on the device alone
    int all = *rows;
    for (int k = blockIdx.x; k * CHUNK < all; k += gridDim.x)
        for (int c = threadIdx.x; c < d; c += blockDim.x) {
            double sum = 0;
            for (int r = k * CHUNK; r < min(k * CHUNK + CHUNK, all); r++)
                sum += in[(size_t)r * d + c];
            sums[(size_t)(k + 1) * d + c] = sum;
        }
}

__global__ void prefixes_kernel(double *sums, const int *rows, int d)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x, chunks = (*rows + CHUNK - 1) / CHUNK;
    if (c >= d)
        return;
    double sum = 0;
    sums[c] = 0;
    for (int k = 1; k <= chunks; k++) {
        sum += sums[(size_t)k * d + c];
        sums[(size_t)k * d + c] = sum;
    }
}

extern "C" void segment_sum(float *out, const float *in, const int *ends, int segments, int d, cudaStream_t stream)
{
    double *sums;
    int *rows;
    cudaMallocAsync((void **)&sums, (size_t)(65536 / CHUNK + 1) * d * sizeof(double), stream);
    cudaMallocAsync((void **)&rows, sizeof(int), stream);
    rows_kernel<<<1, 1, 0, stream>>>(rows, ends, segments);
    chunks_kernel<<<65536 / CHUNK, 128, 0, stream>>>(sums, in, rows, d);
    prefixes_kernel<<<(d + 127) / 128, 128, 0, stream>>>(sums, rows, d);
    segment_kernel<<<segments, 128, 0, stream>>>(out, in, sums, ends, d);
    cudaFreeAsync(rows, stream);
    cudaFreeAsync(sums, stream);
}
