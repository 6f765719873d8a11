// A block counts what is in its row.
// transform: privatise 100
// applies: line 14
// has: unsigned int *const counts_near = counts + (long long)bins * blockIdx.x;
// has: add_near<1024>(counts_own, counts_near, &counts[blockIdx.x * bins + in[blockIdx.x * n + k]], 1u);
// has: atomicAdd(&counts_near[bin], counts_own[bin]);
// lacks: row_own
#include <cuda_runtime.h>

__global__ void row(unsigned int *counts, const int *in, int bins, int n)
{
    for (int k = threadIdx.x; k < n; k += blockDim.x)
        if (in[blockIdx.x * n + k] >= 0)
            atomicAdd(&counts[blockIdx.x * bins + in[blockIdx.x * n + k]], 1u);
}

extern "C" void entry(unsigned int *counts, const int *in, int rows, int bins, int n, cudaStream_t stream)
{
    row<<<rows, 256, 0, stream>>>(counts, in, bins, n);
}
