// A loop's head says its place by macros.
// transform: expand-macros 0
// applies: line 10
// has: blockIdx.x
// lacks: i = PLACE(
#include <cuda_runtime.h>
#define TIMES(a, b) ((a) * (b))
#define PLACE(a, b, c) (TIMES((a), (b)) + (c))

__global__ void twice(float *out, const float *in, int n)
{
    for (int i = PLACE(blockIdx.x, blockDim.x, threadIdx.x); i < n; i += TIMES(gridDim.x, blockDim.x))
        out[i] = 2.0f * in[i];
}

extern "C" void entry(float *out, const float *in, int n, cudaStream_t stream)
{
    twice<<<264, 256, 0, stream>>>(out, in, n);
}
