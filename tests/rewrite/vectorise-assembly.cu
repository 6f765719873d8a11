// Inline assembly that only computes keeps no element from a vector.
// transform: vectorise 16
// applies: line 16
// has: in_v.at[k]
#include <cuda_runtime.h>

__device__ float fast_tanh(float x)
{
    float y;
    asm volatile("{\n .reg .f32 t;\n mov.f32 t, %1;\n tanh.approx.f32 %0, t; }\n\t" : "=f"(y) : "f"(x));
    return y;
}

__global__ void work(float *out, const float *in, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        out[i] = fast_tanh(in[i]);
}

extern "C" void entry(float *out, const float *in, int n, cudaStream_t stream)
{
    work<<<256, 256, 0, stream>>>(out, in, n);
}
