#include <cuda_runtime.h>
// Rows in the order of the experts, each times its gate; a block a slot.
__global__ void permute(float *out, const float *x, const int *from, const float *gate, int d)
{
    for (int k = threadIdx.x; k < d; k += blockDim.x)
        out[(long long)blockIdx.x * d + k] = x[(long long)from[blockIdx.x] * d + k] * gate[blockIdx.x];
}
extern "C" void token_permute(float *out, const float *x, const int *from, const float *gate, int slots, int d, cudaStream_t stream)
{
    permute<<<slots, 256, 0, stream>>>(out, x, from, gate, d);
}
