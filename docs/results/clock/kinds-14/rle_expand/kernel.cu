#include <cuda_runtime.h>
// A column of a database back from its runs: each value as often as its run is long. A thread a run.
__global__ void expand(int *out, const int *start, const int *value, int runs)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= runs)
        return;
    for (int i = start[r]; i < start[r + 1]; i++)
        out[i] = value[r];
}
extern "C" void rle_expand(int *out, const int *start, const int *value, int runs, int n, cudaStream_t stream)
{
    expand<<<(runs + 127) / 128, 128, 0, stream>>>(out, start, value, runs);
}
