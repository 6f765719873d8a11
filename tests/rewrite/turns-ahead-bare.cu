// A loop's only statement, which is what an if asks for.
// transform: turns-ahead 4
// applies: line 13
// has: int load_0_ahead[4];
// has: atomicAdd(&seen[load_0_ahead[turn]], 1);
// has: {
#include <cuda_runtime.h>

__global__ void count(int *seen, const int *in, int n, bool all)
{
    const int from = blockIdx.x * n;
    if (all)
        for (int k = threadIdx.x; k < n; k += blockDim.x)
            atomicAdd(&seen[in[from + k]], 1);
}

extern "C" void entry(int *seen, const int *in, int rows, int n, bool all, cudaStream_t stream)
{
    count<<<rows, 256, 0, stream>>>(seen, in, n, all);
}
