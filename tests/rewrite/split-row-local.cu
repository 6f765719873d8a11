// How long a row is follows from a local of the kernel.
// transform: split-row 128
// applies: line 10
// has: const int row_blocks = (heads * (d / 2) + 127) / 128;
#include <cuda_runtime.h>

__global__ void work(float *x, int heads, int d)
{
    const int half = d / 2, n = heads * half;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const int at = blockIdx.x * heads * d + i / half * d + i % half;
        x[at] = x[at] - x[at + half];
    }
}

extern "C" void entry(float *x, int rows, int heads, int d, cudaStream_t stream)
{
    work<<<rows, 512, 0, stream>>>(x, heads, d);
}
