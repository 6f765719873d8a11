// Assembly that asks for its lane, reaches memory or waits may mean something else for each element.
// transform: vectorise -1
// leaves
#include <cuda_runtime.h>

__device__ float odd(float x)
{
    unsigned lane;
    float y;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm volatile("fma.rn.f32 %0, %1, %1, %1; bar.warp.sync -1;" : "=f"(y) : "f"(x) : "memory");
    return y + (float)lane;
}

__global__ void work(float *out, const float *in, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        out[i] = odd(in[i]);
}

extern "C" void entry(float *out, const float *in, int n, cudaStream_t stream)
{
    work<<<256, 256, 0, stream>>>(out, in, n);
}
