// The kernel waits by itself, and the launcher has the attribute that no launch uses.
// transform: pdl 0
// applies: line 10
// has: config.attrs = attrs;
// has: attrs[0].val.programmaticStreamSerializationAllowed = early;
// has: cudaLaunchKernelEx(&config, scale, out, in, n);
// lacks: <<<
// lacks: cudaTriggerProgrammaticLaunchCompletion
#include <cuda_runtime.h>
__global__ void scale(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    cudaGridDependencySynchronize();
    if (i < n)
        out[i] = in[i] * 2.0f;
}

extern "C" void entry(float *out, const float *in, int n, int early, cudaStream_t stream)
{
    cudaLaunchAttribute attrs[1];
    attrs[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attrs[0].val.programmaticStreamSerializationAllowed = early;
    scale<<<(n + 255) / 256, 256, 0, stream>>>(out, in, n);
}
