// A counter that is declared ahead of its loops, an index that gets its value in a statement, one that stays.
// transform: first-values 0
// applies: line 13
// has: int i = blockIdx.x * blockDim.x + threadIdx.x;
// has: for (int k = i; k < n; k += stride) {
// has: for (int k = 0; k < 4; k++)
// has: const float one = 1.0f;
// has: float last;
// lacks: int i, k, stride;
#include <cuda_runtime.h>
__global__ void scale(float *out, const float *in, int n)
{
    int i, k, stride;
    float last;
    const float one = 1.0f;
    i = blockIdx.x * blockDim.x + threadIdx.x;
    stride = gridDim.x * blockDim.x;
    for (k = i; k < n; k += stride) {
        last = in[k] + one;
        out[k] = last * 2.0f;
    }
    if (i == 0)
        for (k = 0; k < 4; k++)
            out[n + k] = last;
}

extern "C" void entry(float *out, const float *in, int n, cudaStream_t stream)
{
    scale<<<132, 256, 0, stream>>>(out, in, n);
}
