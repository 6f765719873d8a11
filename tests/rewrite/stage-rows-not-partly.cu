// Rows are written partly, or by a question: what is not written must stay as it is.
// transform: stage-rows 0
// leaves
#include <cuda_runtime.h>

__global__ void work(float *out, float *other, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        for (int k = 0; k < 2; k++)
            out[i * 8 + k * 7] = in[i];
        for (int k = 0; k < 8; k++)
            if (in[i] > 0.0f)
                other[i * 8 + k] = in[i];
    }
}

extern "C" void entry(float *out, float *other, const float *in, int n, cudaStream_t stream)
{
    work<<<(n + 127) / 128, 128, 0, stream>>>(out, other, in, n);
}
