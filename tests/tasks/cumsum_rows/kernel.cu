// out[r][i] = in[r][0] + ... + in[r][i], modulo 2^32; one block per row, by 128 numbers at a time.
#include <cstdint>

constexpr int THREADS = 128;

__global__ void cumsum_rows_kernel(unsigned *out, const unsigned *in, int d)
{
    __shared__ unsigned sums[THREADS];
    int tid = threadIdx.x;
    int64_t row = (int64_t)blockIdx.x * d;
    unsigned before = 0;
    for (int first = 0; first < d; first += THREADS) {
        int i = first + tid;
        sums[tid] = i < d ? in[row + i] : 0;
        __syncthreads();
        for (int step = 1; step < THREADS; step *= 2) {
            unsigned more = tid >= step ? sums[tid - step] : 0;
            __syncthreads();
            sums[tid] += more;
            __syncthreads();
        }
        if (i < d)
            out[row + i] = before + sums[tid];
        before += sums[THREADS - 1];
        __syncthreads();
    }
}

extern "C" void cumsum_rows(unsigned *out, const unsigned *in, int rows, int d, cudaStream_t stream)
{
    cumsum_rows_kernel<<<rows, THREADS, 0, stream>>>(out, in, d);
}
