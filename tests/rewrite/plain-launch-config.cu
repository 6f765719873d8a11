// A launch with a configuration of which the only attribute is that it may begin early; a name stands for the
// kernel, and an attribute of the kernel is set by it.
// transform: plain-launch 0
// applies: line 31
// has: work<4><<<blocks, threads, bytes, stream>>>(out, in, n);
// has: cudaFuncSetAttribute(work<4>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
// lacks: cudaLaunchConfig_t
// has: attrs[0].val.programmaticStreamSerializationAllowed = 1;
// lacks: auto kernel
#include <cuda_runtime.h>

template <int N> __global__ void work(float *out, const float *in, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = N * in[i];
}

extern "C" void entry(float *out, const float *in, int n, cudaStream_t stream)
{
    dim3 blocks(132), threads(256);
    const int bytes = 1024;
    auto kernel = work<4>;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    cudaLaunchConfig_t config;
    config.gridDim = blocks; config.blockDim = threads;
    config.dynamicSmemBytes = bytes;
    config.stream = stream;
    cudaLaunchAttribute attrs[1];
    attrs[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attrs[0].val.programmaticStreamSerializationAllowed = 1;
    config.attrs = attrs; config.numAttrs = 1; cudaError_t e = (cudaLaunchKernelEx(&config, kernel, out, in, n));
}
