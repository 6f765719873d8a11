// Indices, shared memory and a load of a stable argument come first, then the wait; the launcher sets the attribute.
// transform: pdl 0
// applies: line 18
// fact: weight stable 1
// has: float w = weight[threadIdx.x];
// has:     cudaGridDependencySynchronize(); // the kernel ahead has ended
// has:     cudaTriggerProgrammaticLaunchCompletion(); // the next one may begin
// has:     float x = in[at];
// has: config.gridDim = n;
// has: config.blockDim = 256;
// has: config.dynamicSmemBytes = 0;
// has: config.stream = stream;
// has: cudaLaunchKernelEx(&config, work<float>, out, in, weight, d);
// lacks: <<<
#include <cuda_runtime.h>

template <typename T>
__global__ void work(T *out, const T *in, const T *weight, int d)
{
    __shared__ float part[32];
    const int at = blockIdx.x * d + threadIdx.x;
    const T *row = in + blockIdx.x * d;
    float w = weight[threadIdx.x];
    float x = in[at];
    if (threadIdx.x < 32)
        part[threadIdx.x] = row[0];
    __syncthreads();
    out[at] = x * w + part[0];
}

extern "C" void entry(float *out, const float *in, const float *weight, int n, int d, cudaStream_t stream)
{
    work<float><<<n, 256, 0, stream>>>(out, in, weight, d);
}
