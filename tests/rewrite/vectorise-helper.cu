// Loads through a function of the file, statements in braces of their own, a conversion that reads like a call, and
// a load behind a question.
// transform: vectorise 16
// has: if (!(bias == nullptr))
// has: bias_v = packed_load<4>(&bias[i]);
// applies: line 16
// has: const packed<T, 4> x_v = packed_load<4>(&x[blockIdx.x * d + i]);
// has: float twice = x_v.at[k] + row_v.at[k];
#include <cuda_runtime.h>
template <typename T> __device__ __forceinline__ T fetch(const T *p)
{
    return __ldg(p);
}
template <typename T> __global__ void scale(T *out, const T *x, const T *row, const T *bias, int d)
{
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        {
            float twice = fetch(&x[blockIdx.x * d + i]) + fetch(&row[i]);
            out[blockIdx.x * d + i] = (T)(twice + (bias == nullptr ? 0.0f : bias[i]));
        }
    }
}

extern "C" void entry(float *out, const float *x, const float *row, const float *bias, int rows, int d, cudaStream_t stream)
{
    scale<float><<<rows, 256, 0, stream>>>(out, x, row, bias, d);
}
