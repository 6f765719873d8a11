// A recurrence, what is added made of what is carried, and places that turns share.
// transform: share-rows 32
// leaves
#include <cuda_runtime.h>

__global__ void recurrence(float *out, const float *in, int rows, int d)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    float h = 0.0f;
    for (int k = 0; k < d; k++) {
        h = 0.5f * h + in[r * d + k];
        out[r * d + k] = h;
    }
}

__global__ void made(float *out, const float *in, int rows, int d)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    float sum = 0.0f, most = 0.0f;
    for (int k = 0; k < d; k++) {
        sum += in[r * d + k];
        most = fmaxf(most, sum);
        out[r * d + k] = most;
    }
}

__global__ void places(float *out, const float *in, int rows, int d)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    float sum = 0.0f;
    for (int k = 0; k < d; k++) {
        sum += in[r * d + k];
        out[r * d + k / 2] = sum;
    }
}

extern "C" void entry(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    recurrence<<<(rows + 63) / 64, 64, 0, stream>>>(out, in, rows, d);
    made<<<(rows + 63) / 64, 64, 0, stream>>>(out, in, rows, d);
    places<<<(rows + 63) / 64, 64, 0, stream>>>(out, in, rows, d);
}
