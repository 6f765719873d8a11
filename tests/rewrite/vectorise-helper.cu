// Loads through a function of the file, and statements in braces of their own.
// transform: vectorise 16
// applies: line 13
// has: const packed<float, 4> x_v = packed_load<4>(&x[blockIdx.x * d + i]);
// has: float twice = x_v.at[k] + row_v.at[k];
#include <cuda_runtime.h>
template <typename T> __device__ __forceinline__ T fetch(const T *p)
{
    return __ldg(p);
}
__global__ void scale(float *out, const float *x, const float *row, int d)
{
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        {
            float twice = fetch(&x[blockIdx.x * d + i]) + fetch(&row[i]);
            out[blockIdx.x * d + i] = twice;
        }
    }
}

extern "C" void entry(float *out, const float *x, const float *row, int rows, int d, cudaStream_t stream)
{
    scale<<<rows, 256, 0, stream>>>(out, x, row, d);
}
