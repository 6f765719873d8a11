// Every launch passes no bias and a mode of 0, once as a constant of the launcher: neither is asked for.
// transform: drop-branches 0
// applies: line 16
// has: out[i] = value;
// has: if (scale)
// lacks: value += bias[i]
// lacks: if (mode == 2)
// lacks: if (with_bias)
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in, const float *bias, const float *scale, int mode, int n)
{
    const bool with_bias = bias != nullptr;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        float value = in[i];
        if (with_bias) {
            value += bias[i];
        }
        if (scale)
            value *= scale[i];
        if (mode == 2)
            reinterpret_cast<int *>(out)[i] = (int)value;
        else
            out[i] = value;
    }
}

extern "C" void entry(float *out, const float *in, const float *scale, int n, cudaStream_t stream)
{
    const int mode = 0;
    if (n > 1024)
        work<<<256, 256, 0, stream>>>(out, in, nullptr, scale, 0, n);
    else
        work<<<4, 256, 0, stream>>>(out, in, (const float *)nullptr, scale, mode, n);
}
