// Two branches with a loop each, of which a thread takes one.
// transform: plain-loop 0
// applies: line 13
// has: for (int at = first; at < d; at += blockDim.x) {
// has: for (int at = first; at < d; at += lanes) {
// lacks: while
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in, const float *bias, int d)
{
    const int first = threadIdx.x, lanes = blockDim.x;
    int at = first;
    if (bias) { while (at < d) {
            out[blockIdx.x * d + at] = in[blockIdx.x * d + at] + bias[at];
            at += blockDim.x;
        }
    } else {
        while (at < d) {
            out[blockIdx.x * d + at] = in[blockIdx.x * d + at];
            at = at + lanes;
        }
    }
}

extern "C" void entry(float *out, const float *in, const float *bias, int rows, int d, cudaStream_t stream)
{
    work<<<rows, 256, 0, stream>>>(out, in, bias, d);
}
