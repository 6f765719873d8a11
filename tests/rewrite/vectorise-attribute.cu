// An attribute of the kernel is set in the launcher: the copy has it too.
// transform: vectorise 16
// applies: line 15
// has: cudaFuncSetAttribute(scale_vec4<float>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
// has: cudaError_t e = (cudaFuncSetAttribute(scale<float>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
// has: scale_vec4<float><<<rows, 256, bytes, stream>>>(out, in, d);
// fact: d divisor 256
#include <cuda_runtime.h>

template <typename T> __global__ void scale(T *out, const T *in, int d)
{
    extern __shared__ float some[];
    some[threadIdx.x] = 2.0f;
    __syncthreads();
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[blockIdx.x * d + i] = in[blockIdx.x * d + i] * some[threadIdx.x];
}

extern "C" void entry(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    const int bytes = 256 * sizeof(float);
    cudaError_t e = (cudaFuncSetAttribute(scale<float>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    scale<float><<<rows, 256, bytes, stream>>>(out, in, d);
}
