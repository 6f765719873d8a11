// A block's own result, a square of the block's sum, a maximum, an addition that says who came first, a question
// about the sum, one that is rounded, and a count in memory.
// transform: sum-first -1
// leaves
#include <cuda_runtime.h>

__device__ float add_up(float value)
{
    for (int step = 16; step > 0; step >>= 1)
        value += __shfl_xor_sync(0xffffffff, value, step);
    return value;
}

__device__ float largest(float value)
{
    for (int step = 16; step > 0; step >>= 1)
        value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, step));
    return value;
}

__global__ void own(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = i < n ? in[i] : 0.0f;
    sum = add_up(sum);
    out[i / 32] = sum;
    atomicAdd(out, sum);
}

__global__ void square(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = i < n ? in[i] : 0.0f;
    sum = add_up(sum);
    if (threadIdx.x == 0)
        atomicAdd(out, sum * sum);
}

__global__ void most(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = i < n ? in[i] : 0.0f;
    sum = largest(sum);
    if (threadIdx.x == 0)
        atomicAdd(out, sum);
}

__global__ void first(const float *in, float *out, float *seen, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = i < n ? in[i] : 0.0f;
    sum = add_up(sum);
    float before = atomicAdd(out, sum);
    if (before == 0.0f)
        seen[0] = 1.0f;
}

__global__ void asked(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = i < n ? in[i] : 0.0f;
    sum = add_up(sum);
    if (sum > 0.0f)
        atomicAdd(out, sum);
}

__global__ void rounded(const float *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = i < n ? in[i] : 0.0f;
    sum = add_up(sum);
    int whole = sum;
    atomicAdd(out, whole);
}

__global__ void counted(const float *in, float *out, int *count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = i < n ? in[i] : 0.0f;
    sum = add_up(sum);
    atomicAdd(out, sum);
    count[threadIdx.x]++;
}

extern "C" void entry(const float *in, float *out, float *seen, int n, cudaStream_t stream)
{
    own<<<(n + 31) / 32, 32, 0, stream>>>(in, out, n);
    square<<<(n + 31) / 32, 32, 0, stream>>>(in, out, n);
    most<<<(n + 31) / 32, 32, 0, stream>>>(in, out, n);
    first<<<(n + 31) / 32, 32, 0, stream>>>(in, out, seen, n);
    asked<<<(n + 31) / 32, 32, 0, stream>>>(in, out, n);
    rounded<<<(n + 31) / 32, 32, 0, stream>>>(in, (int *)out, n);
    counted<<<(n + 31) / 32, 32, 0, stream>>>(in, out, (int *)seen, n);
}
