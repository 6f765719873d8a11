// A turn that may not store, one that ends the loop, and a limit of the thread's own.
// transform: stage-loop 32
// leaves
#include <cuda_runtime.h>

__global__ void sometimes(float *out, const float *in, int rows, int d)
{
    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    for (int k = 0; k < d; k++)
        if (in[0] > 0.0f)
            out[r * d + k] = in[0];
}

__global__ void ends(float *out, const float *in, int rows, int d)
{
    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    float sum = 0.0f;
    for (int k = 0; k < d; k++) {
        if (in[r * d + k] < 0.0f)
            break;
        sum += in[r * d + k];
    }
    out[r] = sum;
}

__global__ void own(float *out, const float *in, const int *lengths, int rows, int d)
{
    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    const int length = lengths[r];
    float sum = 0.0f;
    for (int k = 0; k < length; k++)
        sum += in[r * d + k];
    out[r] = sum;
}

extern "C" void entry(float *out, const float *in, const int *lengths, int rows, int d, cudaStream_t stream)
{
    sometimes<<<(rows + 63) / 64, 64, 0, stream>>>(out, in, rows, d);
    ends<<<(rows + 63) / 64, 64, 0, stream>>>(out, in, rows, d);
    own<<<(rows + 63) / 64, 64, 0, stream>>>(out, in, lengths, rows, d);
}
