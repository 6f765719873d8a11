// What is kept is no turn's number, or is asked for in the loop.
// transform: share-rows -1
// leaves
#include <cuda_runtime.h>

__global__ void value(float *out, const float *in, const float *other, int rows, int d)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    float best = -1e30f, kept = 0.0f;
    for (int k = 0; k < d; k++) {
        if (in[r * d + k] > best) {
            best = in[r * d + k];
            kept = other[k];
        }
    }
    out[r] = kept;
}

__global__ void asked(int *out, const float *in, int rows, int d)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    float best = -1e30f;
    int at = 0, seen = 0;
    for (int k = 0; k < d; k++) {
        seen += at;
        if (in[r * d + k] > best) {
            best = in[r * d + k];
            at = k;
        }
    }
    out[r] = seen;
}

extern "C" void entry(float *out, int *places, const float *in, const float *other, int rows, int d, cudaStream_t stream)
{
    value<<<(rows + 127) / 128, 128, 0, stream>>>(out, in, other, rows, d);
    asked<<<(rows + 127) / 128, 128, 0, stream>>>(places, in, rows, d);
}
