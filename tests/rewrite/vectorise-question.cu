// The question is another one for each element, so what is behind it stays an element.
// transform: vectorise 16
// applies: line 10
// has: if (mask[i + k])
// lacks: more_v
#include <cuda_runtime.h>

__global__ void work(float *out, const float *more, const bool *mask, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        float value = 0.0f;
        if (mask[i])
            value += more[i];
        out[i] = value;
    }
}

extern "C" void entry(float *out, const float *more, const bool *mask, int n, cudaStream_t stream)
{
    work<<<256, 256, 0, stream>>>(out, more, mask, n);
}
