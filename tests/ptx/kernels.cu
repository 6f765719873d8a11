// Source of kernels.ptx: nvcc -ptx -lineinfo -arch=sm_90 kernels.cu
#include <cassert>
#include <cstdio>

__constant__ float table[4] = {1, 2, 3, 4};
__device__ int counter = 5;
extern __shared__ float dynamic[];

extern "C" __global__ void scale(const float *in, float *out, int n, float by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * by;
}

__device__ __noinline__ float weighted(float x, int n)
{
    float s = 0;
    for (int i = 0; i < n; i++)
        s += x * i;
    return s;
}

extern "C" __global__ void calls(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = weighted(in[i], i % 7) + weighted(in[i], 3) * table[i & 3];
}

extern "C" __global__ void block_sum(const float *in, float *out, int n)
{
    __shared__ float part[256];
    float s = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        s += in[i];
    part[threadIdx.x] = s;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        atomicAdd(out, part[0]);
}

extern "C" __global__ void warp_sum(const int *in, int *out)
{
    int v = in[threadIdx.x];
    for (int k = 16; k > 0; k /= 2)
        v += __shfl_xor_sync(0xffffffff, v, k);
    dynamic[threadIdx.x] = v;
    out[threadIdx.x] = (int)dynamic[threadIdx.x ^ 1] + __popc(__ballot_sync(0xffffffff, in[threadIdx.x] & 1));
}

extern "C" __global__ void divergent(int *out, int n)
{
    int i = threadIdx.x, steps = 0;
    unsigned x = i + n;
    while (x != 1) {
        x = x & 1 ? 3 * x + 1 : x / 2;
        steps++;
    }
    switch (steps % 6) {
    case 0: steps += 10; break;
    case 1: steps *= 3; break;
    case 2: steps -= 7; break;
    case 3: steps ^= 0x55; break;
    case 4: steps <<= 2; break;
    }
    out[i] = steps;
}

extern "C" __global__ void locked(int *lock, int *value)
{
    while (atomicCAS(lock, 0, 1) != 0)
        ;
    __threadfence();
    *(volatile int *)value = *(volatile int *)value + 1;
    __threadfence();
    atomicExch(lock, 0);
}

extern "C" __global__ void grid_barrier(int *arrived, int *out)
{
    if (threadIdx.x == 0) {
        atomicAdd(arrived, 1);
        while (*(volatile int *)arrived < gridDim.x)
            ;
    }
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = *(volatile int *)arrived;
}

extern "C" __global__ void speaks(int n)
{
    if (threadIdx.x < 2)
        printf("thread %d of %s: %5.2f %lld\n", threadIdx.x, "kernel", n * 0.5, 1ll << 40);
    assert(n != 13);
    if (n == 14)
        __trap();
    counter += n;
}

extern "C" __global__ void half_barrier()
{
    if (threadIdx.x < 40)
        __syncthreads();
    else
        while (1)
            __nanosleep(100);
}

extern "C" __global__ void endless(int *p, int n)
{
    int i = 0;
    while (n > i)
        i = (i + 1) & 7;
    *p = i;
}

__device__ __noinline__ int fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

extern "C" __global__ void recurses(int *out)
{
    int i = threadIdx.x;
    int local[4] = {i, i + 1, i + 2, i + 3};
    out[i] = fib(i % 9) * 10 + local[i & 3];
}

__device__ __noinline__ int deep(int n, int *above)
{
    int own[2] = {n, above ? above[n & 1] : 0};
    int below = n > 0 ? deep(n - 1, own) : 0;
    return below * 3 + own[0] + own[1];
}

extern "C" __global__ void frames(int *out)
{
    out[threadIdx.x] = deep(threadIdx.x % 6, nullptr);
}

typedef int (*step)(int);
__device__ __noinline__ int more(int x)
{
    return x + 1;
}
__device__ __noinline__ int twice(int x)
{
    return x * 2;
}
__device__ __noinline__ int less(int x)
{
    return x - 7;
}
__device__ step steps[3] = {more, twice, less};

extern "C" __global__ void pointers(int *out)
{
    int i = threadIdx.x;
    step f = steps[i % 3];
    out[i] = f(i) + f(2 * i);
}

extern "C" __global__ void wide(const float4 *in, float4 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float4 v = in[i];
        out[i] = make_float4(v.w, v.z, v.y, v.x);
    }
}
