// class: round 12 ; right: runs of equal values are counted before they are added.
#include <cstdint>

__global__ void histogram_kernel(unsigned *counts, const unsigned char *values, int64_t n)
{
    __shared__ unsigned local[256];
    for (int bin = threadIdx.x; bin < 256; bin += blockDim.x)
        local[bin] = 0;
    __syncthreads();
    int64_t stride = (int64_t)gridDim.x * blockDim.x;
    unsigned last = 0;
    unsigned run = 0;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        unsigned v = values[i];
        if (v != last) {
            if (run)
                atomicAdd(&local[last], (unsigned)run);
            last = v;
            run = 0;
        }
        run++;
    }
    if (run)
        atomicAdd(&local[last], (unsigned)run);
    __syncthreads();
    for (int bin = threadIdx.x; bin < 256; bin += blockDim.x)
        if (local[bin] != 0)
            atomicAdd(&counts[bin], local[bin]);
}

extern "C" void histogram(unsigned *counts, const unsigned char *values, int rows, int d, cudaStream_t stream)
{
    int64_t n = (int64_t)rows * d, wanted = (n + 127) / 128;
    int blocks = wanted < 1056 ? (int)wanted : 1056;
    cudaMemsetAsync(counts, 0, 256 * sizeof(unsigned), stream);
    histogram_kernel<<<blocks, 128, 0, stream>>>(counts, values, n);
}
