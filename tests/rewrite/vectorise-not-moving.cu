// A pointer that goes along with the loop, and one that only some threads move.
// transform: vectorise -1
// leaves
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in, const float *other, int d)
{
    const float *x = in + blockIdx.x * d + threadIdx.x;
    if (d > 8)
        other += 1;
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        out[blockIdx.x * d + i] = *x + other[i];
        x += blockDim.x;
    }
}

extern "C" void entry(float *out, const float *in, const float *other, int rows, int d, cudaStream_t stream)
{
    work<<<rows, 128, 0, stream>>>(out, in, other, d);
}
