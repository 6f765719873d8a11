// A function that returns early where the kernel goes on, one whose reference is an element, one
// of two with so many parameters, one with a loop in which threads meet, and one that keeps things.
// transform: inline -1
// leaves
#include <cuda_runtime.h>

__device__ void early(int *to, int at)
{
    if (at > 3)
        return;
    to[at] = 1;
}

__device__ void reference(int &x)
{
    x = 2;
}

__device__ void two(float *to, int at)
{
    to[at] = 1;
}

__device__ void two(int *to, int at)
{
    to[at] = 1;
}

__device__ int meets(const int *from, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        sum += from[i];
        __syncthreads();
    }
    return sum;
}

__device__ void keeps(int *to)
{
    __shared__ int slot;
    slot = 1;
    to[4] = slot;
}

__global__ void work(int *out)
{
    int x = 0;
    early(out, threadIdx.x);
    reference(out[6]);
    x = meets(out, x);
    two(out, x);
    keeps(out);
    out[5] = x;
}

extern "C" void entry(int *out, cudaStream_t stream)
{
    work<<<1, 1, 0, stream>>>(out);
}
