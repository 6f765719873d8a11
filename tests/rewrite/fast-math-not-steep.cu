// A divisor that may be above 2^126 while a float's quotient is not 0: nothing but a division by it.
// transform: fast-math -1
// leaves
#include <cuda_runtime.h>
__global__ void gate(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float x = in[i], below = 1.0f + exp2f(-x);
        out[i] = x / below;
    }
}

extern "C" void entry(float *out, const float *in, int n, cudaStream_t stream)
{
    gate<<<(n + 255) / 256, 256, 0, stream>>>(out, in, n);
}
