#include <cuda_runtime.h>
// A block keeps all counters in shared memory over a long stretch of keys, two in a vector, and hands on those it has
// touched.
__device__ __forceinline__ void note(int *own, unsigned long long k)
{
    k = (k ^ k >> 33) * 0xff51afd7ed558ccdull;
    k = (k ^ k >> 33) * 0xc4ceb9fe1a85ec53ull;
    k ^= k >> 33;
    atomicMax(&own[k >> 52], __clzll((long long)(k << 12 | 2048)) + 1);
}
__global__ void __launch_bounds__(512) count(int *__restrict__ rank, const unsigned long long *__restrict__ key, int n)
{
    __shared__ int own[4096];
    int t = threadIdx.x, stride = gridDim.x * 512;
    for (int i = t; i < 4096; i += 512)
        own[i] = 0;
    __syncthreads();
    const ulonglong2 *two = (const ulonglong2 *)key;
    int i = blockIdx.x * 512 + t;
    for (; i + stride < n / 2; i += 2 * stride) {
        ulonglong2 a = two[i], b = two[i + stride];
        note(own, a.x);
        note(own, a.y);
        note(own, b.x);
        note(own, b.y);
    }
    if (i < n / 2) {
        ulonglong2 a = two[i];
        note(own, a.x);
        note(own, a.y);
    }
    if (n % 2 && blockIdx.x == 0 && t == 0)
        note(own, key[n - 1]);
    __syncthreads();
    for (int i = t; i < 4096; i += 512)
        if (own[i])
            atomicMax(&rank[i], own[i]);
}
extern "C" void hyperloglog(int *rank, const unsigned long long *key, int n, cudaStream_t stream)
{
    int blocks = n / 16384;
    count<<<blocks < 8 ? 8 : blocks > 264 ? 264 : blocks, 512, 0, stream>>>(rank, key, n);
}
