// A type that the toolkit's headers declare otherwise.
#include <cuda_runtime.h>

typedef unsigned long long uint64_t;

__global__ void add_counts(const unsigned *x, uint64_t *sums, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        sums[i] += x[i];
}
