// expect: wrong
// row 12: A block counts one bin with 16 bits.
#include <cuda_runtime.h>
__global__ void kernel(unsigned *counts, const unsigned char *values, long long n)
{
    unsigned short total = 0;
    for (long long base = 0; base < n; base += blockDim.x) {
        long long i = base + threadIdx.x;
        total += __syncthreads_count(i < n && values[i] == blockIdx.x);
    }
    if (threadIdx.x == 0)
        counts[blockIdx.x] = total;
}
extern "C" void histogram(unsigned *counts, const unsigned char *values, int rows, int d, cudaStream_t stream)
{
    kernel<<<256, 1024, 0, stream>>>(counts, values, (long long)rows * d);
}
