#include <cuda_runtime.h>
// A thread a segment: its largest value, the sum, the quotients.
__global__ void segments(float *out, const float *in, const int *ptr, int rows)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    int from = ptr[r], to = ptr[r + 1];
    float most = -1e30f, sum = 0.0f;
    for (int k = from; k < to; k++)
        most = fmaxf(most, in[k]);
    for (int k = from; k < to; k++)
        sum += expf(in[k] - most);
    for (int k = from; k < to; k++)
        out[k] = expf(in[k] - most) / sum;
}
extern "C" void seg_softmax(float *out, const float *in, const int *ptr, int rows, cudaStream_t stream)
{
    segments<<<(rows + 127) / 128, 128, 0, stream>>>(out, in, ptr, rows);
}
