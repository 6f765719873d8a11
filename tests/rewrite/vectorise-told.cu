// The type of a template parameter is told by the launcher's argument.
// transform: vectorise 16
// applies: line 9
// has: const packed<T, 8> in_v = packed_load<8>(&in[i]);
#include <cuda_fp16.h>

template <typename T> __global__ void work(T *out, const T *in, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = in[i] * in[i];
}

extern "C" void entry(__half *out, const __half *in, int n, cudaStream_t stream)
{
    work<<<264, 128, 0, stream>>>(out, in, n);
}
