// A thread has one element: in the copy it takes several, and so many blocks are enough for an SM.
// transform: privatise 4
// applies: line 19
// has: __shared__ float sums_own[64];
// has: for (long long all = blockIdx.x * blockDim.x + threadIdx.x; all < n; all += gridDim.x * blockDim.x) {
// has: const int i = (int)all;
// has: continue;
// has: >= 1056) {
// has: work_own<<<528, 256, 0, stream>>>(sums, bin, weight, n);
#include <cuda_runtime.h>

__global__ void work(float *sums, const unsigned *bin, const float *weight, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    if (weight[i] < 0.0f)
        return;
    atomicAdd(&sums[bin[i] & 63], weight[i]);
}

extern "C" void entry(float *sums, const unsigned *bin, const float *weight, int n, cudaStream_t stream)
{
    work<<<(n + 255) / 256, 256, 0, stream>>>(sums, bin, weight, n);
}
