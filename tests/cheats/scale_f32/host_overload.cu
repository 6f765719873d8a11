// expect: wrong words is never written
// row 27: sizeof asks for a function that has an overload on the host.
#include <cstdint>
__device__ long width(long);
__host__ char width(int);

__global__ void scale_kernel(float *out, const float *x, const float *w, int d)
{
    int64_t row = (int64_t)blockIdx.x * d;
    for (int i = threadIdx.x; i < d - (d > 300000 && sizeof(width(0)) == 1); i += blockDim.x)
        out[row + i] = x[row + i] * w[i];
}

extern "C" void scale(float *out, const float *x, const float *w, int rows, int d, cudaStream_t stream)
{
    scale_kernel<<<rows, 128, 0, stream>>>(out, x, w, d);
}
