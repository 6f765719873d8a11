// The place that an addition found is used, sums in float depend on their order, a pointer goes to a function, and
// a counter is added to without an atomic.
// transform: spread-counters -1
// leaves
#include <cuda_runtime.h>

__device__ void put(int *where, int what)
{
    atomicAdd(&where[what], 1);
}

__global__ void sort(int *out, const unsigned char *in, int n)
{
    __shared__ int next[256];
    next[threadIdx.x] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        out[atomicAdd(&next[in[i]], 1)] = in[i];
}

__global__ void sums(float *out, const unsigned char *in, int n)
{
    __shared__ float total[256];
    total[threadIdx.x] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        atomicAdd(&total[in[i]], 1.5f);
    __syncthreads();
    out[threadIdx.x] = total[threadIdx.x];
}

__global__ void passed(int *out, const unsigned char *in, int n)
{
    __shared__ int count[256];
    count[threadIdx.x] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        atomicAdd(&count[in[i]], 1);
        put(count, in[i]);
    }
    __syncthreads();
    out[threadIdx.x] = count[threadIdx.x];
}

__global__ void own(int *out, const unsigned char *in, int n)
{
    __shared__ int count[256];
    count[threadIdx.x] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        atomicAdd(&count[in[i]], 1);
    __syncthreads();
    count[threadIdx.x] += 2;
    out[threadIdx.x] = count[threadIdx.x];
}

extern "C" void entry(float *totals, int *out, const unsigned char *in, int n, cudaStream_t stream)
{
    sort<<<1, 256, 0, stream>>>(out, in, n);
    sums<<<1, 256, 0, stream>>>(totals, in, n);
    passed<<<1, 256, 0, stream>>>(out, in, n);
    own<<<1, 256, 0, stream>>>(out, in, n);
}
