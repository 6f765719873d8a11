// Where the launcher knows how long rows are, short ones keep their thread.
// transform: share-rows 32
// applies: line 15
// has: if (d >= 64) {
// has: sum = __shfl_sync(0xffffffff, sum_here, (int)(left < 32 ? left - 1 : 31));
// lacks: sum_before
#include <cuda_runtime.h>

__global__ void work(int *out, const int *in, int rows, int d)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    int sum = 0;
    for (int k = 0; k < d; k++) {
        sum = sum + in[r * d + k];
        out[r * d + k] = sum;
    }
}

extern "C" void entry(int *out, const int *in, int rows, int d, cudaStream_t stream)
{
    work<<<(rows + 63) / 64, 64, 0, stream>>>(out, in, rows, d);
}
