// A prototype above is no other use, a type's other name is that type, brackets behind & nothing.
// transform: vectorise 16
// applies: line 12
// has: packed_load<4>(&in[blockIdx.x * d + i])
// has: work_vec4<<<n, 128, 0, stream>>>(out, in, n, d);
#include <cuda_runtime.h>

typedef unsigned int number;
__global__ void work(float *out, const float *in, int n, int d);
__global__ void work(float *out, const float *in, int n, int d)
{
    for (number i = threadIdx.x; i < d; i += blockDim.x)
        out[blockIdx.x * d + i] = 2.0f * __ldcs(&(in[blockIdx.x * d + i]));
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<n, 128, 0, stream>>>(out, in, n, d);
}
