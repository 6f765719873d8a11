// The threads of the block share the loop already: split-row and block-size see to it.
// transform: split-loop -1
// leaves
#include <cuda_runtime.h>
__global__ void work(float *out, const float *in, int d)
{
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[blockIdx.x * d + i] = 2 * in[blockIdx.x * d + i];
}

extern "C" void entry(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    work<<<rows, 128, 0, stream>>>(out, in, d);
}
