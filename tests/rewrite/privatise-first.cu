// Nobody says how many counters there are: the block has the first thousand, from where its batch's begin.
// transform: privatise 101
// applies: line 22
// has: int *const counts_near = counts + (long long)bins * blockIdx.y;
// has: __shared__ int counts_own[1024];
// has: add_near<1024>(counts_own, counts_near, &own[which], 1);
// has: add_near<1024>(counts_own, counts_near, own + last, weight[i]);
// has: if (counts_own[bin] != 0)
// has: atomicAdd(&counts_near[bin], counts_own[bin]);
// has: if ((n + 127) / 128 >= 2 * (131 / (batch) + 1)) {
// has: tally_own<<<dim3(131 / (batch) + 1, batch), 128, 0, stream>>>(counts, key, weight, n, bins, last);
#include <cuda_runtime.h>

__global__ void tally(int *counts, const int *key, const int *weight, int n, int bins, int last)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int *own = counts + blockIdx.y * bins;
    int which = key[(long long)blockIdx.y * n + i];
    if (which < last)
        atomicAdd(&own[which], 1);
    else
        atomicAdd(own + last, weight[i]);
}

extern "C" void entry(int *counts, const int *key, const int *weight, int n, int bins, int last, int batch,
                      cudaStream_t stream)
{
    tally<<<dim3((n + 127) / 128, batch), 128, 0, stream>>>(counts, key, weight, n, bins, last);
}
