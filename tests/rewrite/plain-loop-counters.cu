// A 64-bit counter beside the one that the body knows, and a step that is declared beside another.
// transform: plain-loop 0
// applies: line 12
// has: for (int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; at < n; at += (int64_t)blockDim.x * gridDim.x) {
// has: const int i = (int)at;
// has: for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < n; k += blockDim.x * gridDim.x) out[k] *= 2.0f;
#include <cstdint>
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in, int n)
{
    int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; for (int i = (int)at; at < n; at += (int64_t)blockDim.x * gridDim.x, i = (int)at)
        out[i] = in[i];
    for (int k = blockIdx.x * blockDim.x + threadIdx.x, lanes = blockDim.x * gridDim.x; k < n; k += lanes) out[k] *= 2.0f;
}

extern "C" void entry(float *out, const float *in, int n, cudaStream_t stream)
{
    work<<<132, 256, 0, stream>>>(out, in, n);
}
