// Right: each thread counts the length of a run of equal bytes, and adds only where it ends.
#include <cstdint>

__global__ void histogram_kernel(unsigned *counts, const unsigned char *values, int64_t n)
{
    __shared__ unsigned local[256];
    local[threadIdx.x] = 0;
    __syncthreads();
    const int64_t EACH = 64;
    for (int64_t at = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * EACH; at < n;
         at += (int64_t)gridDim.x * blockDim.x * EACH) {
        int64_t end = at + EACH < n ? at + EACH : n;
        unsigned last = values[at], run = 0;
        for (int64_t i = at; i < end; i++) {
            unsigned v = values[i];
            if (v != last) {
                atomicAdd(&local[last], run);
                last = v;
                run = 0;
            }
            run++;
        }
        atomicAdd(&local[last], run);
    }
    __syncthreads();
    if (local[threadIdx.x])
        atomicAdd(&counts[threadIdx.x], local[threadIdx.x]);
}

extern "C" void histogram(unsigned *counts, const unsigned char *values, int rows, int d, cudaStream_t stream)
{
    int64_t n = (int64_t)rows * d, blocks = (n + 256 * 64 - 1) / (256 * 64);
    cudaMemsetAsync(counts, 0, 256 * sizeof *counts, stream);
    histogram_kernel<<<(int)(blocks > 1056 ? 1056 : blocks), 256, 0, stream>>>(counts, values, n);
}
