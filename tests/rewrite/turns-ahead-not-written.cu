// What is loaded is written by the kernel, threads meet in the loop, or nothing is in the way that a compiler knows of.
// transform: turns-ahead -1
// leaves
#include <cuda_runtime.h>

__global__ void follows(int *next, int *seen, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int to = next[i];
        if (atomicAdd(&seen[to], 1) == 0)
            next[to] = i;
    }
}

__global__ void meets(int *seen, const int *in, int n)
{
    __shared__ int most;
    for (int i = 0; i < n; i += blockDim.x) {
        int x = in[i + threadIdx.x];
        if (threadIdx.x == 0)
            most = x;
        __syncthreads();
        atomicAdd(&seen[most], x);
        __syncthreads();
    }
}

__global__ void adds(float *sums, const float *in, int n)
{
    float sum = 0.0f;
    for (int k = 0; k < n; k++) {
        float x = in[k * blockDim.x + threadIdx.x];
        sum += x * x;
    }
    sums[threadIdx.x] = sum;
}

extern "C" void entry(int *next, int *seen, float *sums, const int *in, const float *x, int n, cudaStream_t stream)
{
    follows<<<264, 256, 0, stream>>>(next, seen, n);
    meets<<<1, 256, 0, stream>>>(seen, in, n);
    adds<<<1, 256, 0, stream>>>(sums, x, n);
}
