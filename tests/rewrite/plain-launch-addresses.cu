// The arguments are addresses of variables; somebody asks for the call's result.
// transform: plain-launch 0
// applies: line 21
// has: work<<<(n + 255) / 256, 256, 0, stream>>>(out, in, n);
// has: return cudaGetLastError() == cudaSuccess;
// lacks: void *args
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 2.0f * in[i];
}

static bool start(float *out, const float *in, int n, cudaStream_t stream)
{
    void *args[] = {(void *)&out,
                    (void *)&in,
                    &n};
    return cudaLaunchKernel((void *)work, (n + 255) / 256, 256, args, 0, stream) == cudaSuccess;
}

extern "C" void entry(float *out, const float *in, int n, cudaStream_t stream)
{
    start(out, in, n, stream);
}
