// A prototype above is no other use, and `uint` an integer.
// transform: vectorise 16
// applies: line 10
// has: work_vec4<<<n, 128, 0, stream>>>(out, in, n, d);
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in, int n, int d);
__global__ void work(float *out, const float *in, int n, int d)
{
    for (uint i = threadIdx.x; i < d; i += blockDim.x)
        out[blockIdx.x * d + i] = 2.0f * in[blockIdx.x * d + i];
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<n, 128, 0, stream>>>(out, in, n, d);
}
