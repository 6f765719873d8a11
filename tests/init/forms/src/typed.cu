// A kernel that is declared as a template and written for each type.
#include <cuda_fp16.h>

namespace forms {

template <typename T>
__global__ void add_rows(T *out, const T *in, const T *bias, int cols);

template <>
__global__ void add_rows<float>(float *out, const float *in, const float *bias, int cols)
{
    for (int i = threadIdx.x; i < cols; i += blockDim.x)
        out[blockIdx.x * cols + i] = in[blockIdx.x * cols + i] + bias[i];
}

template <>
__global__ void add_rows<__half>(__half *out, const __half *in, const __half *bias, int cols)
{
    for (int i = threadIdx.x; i < cols; i += blockDim.x)
        out[blockIdx.x * cols + i] = __hadd(in[blockIdx.x * cols + i], bias[i]);
}

template <typename T>
void launch_add_rows(T *out, const T *in, const T *bias, int rows, int cols, cudaStream_t stream);

template <>
void launch_add_rows<float>(float *out, const float *in, const float *bias, int rows, int cols, cudaStream_t stream)
{
    add_rows<<<rows, 64, 0, stream>>>(out, in, bias, cols);
}

template <>
void launch_add_rows<__half>(__half *out, const __half *in, const __half *bias, int rows, int cols, cudaStream_t stream)
{
    add_rows<<<rows, 64, 0, stream>>>(out, in, bias, cols);
}

} // namespace forms
