#include <cuda_runtime.h>
// Logits whose token a grammar does not allow become very small; a thread a logit, a bit each.
__global__ void mask(float *out, const float *logits, const unsigned *allowed, int words)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    long long row = blockIdx.y;
    if (v >= words * 32)
        return;
    bool may = allowed[row * words + v / 32] >> (v % 32) & 1;
    out[row * words * 32 + v] = may ? logits[row * words * 32 + v] : -1.0e30f;
}
extern "C" void bitmask_logits(float *out, const float *logits, const unsigned *allowed, int rows, int words, cudaStream_t stream)
{
    mask<<<dim3((words * 32 + 255) / 256, rows), 256, 0, stream>>>(out, logits, allowed, words);
}
