// An addition in shared memory is in the way of the next turn's loads; what a turn declares first is loaded ahead, and
// what its first statement loads before it asks anything.
// transform: turns-ahead 4
// applies: line 24
// has: for (long long first = (int)(blockIdx.x * blockDim.x + threadIdx.x); first < n; first += 4 * (long long)lanes) {
// has: int key_0_ahead[4];
// has: float load_1_ahead[4];
// has: if (turn * (long long)lanes < left) {
// has: const int i = (int)(first + turn * (long long)lanes);
// has: key_0_ahead[turn] = key;
// has: const int key = key_0_ahead[turn];
// has: load_1_ahead[turn] = weight[i];
// has: if (load_1_ahead[turn] > 0.0f && more[i] > 0.0f)
// lacks: more_ahead
#include <cuda_runtime.h>

__global__ void tally(float *sums, const int *keys, const float *weight, const float *more, int n)
{
    __shared__ float own[64];
    if (threadIdx.x < 64)
        own[threadIdx.x] = 0.0f;
    __syncthreads();
    const int lanes = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += lanes) {
        const int key = keys[i];
        const int bin = key & 63;
        if (weight[i] > 0.0f && more[i] > 0.0f)
            atomicAdd(&own[bin], weight[i]);
    }
    __syncthreads();
    if (threadIdx.x < 64)
        sums[blockIdx.x * 64 + threadIdx.x] = own[threadIdx.x];
}

extern "C" void entry(float *sums, const int *keys, const float *weight, const float *more, int n, cudaStream_t stream)
{
    tally<<<264, 256, 0, stream>>>(sums, keys, weight, more, n);
}
