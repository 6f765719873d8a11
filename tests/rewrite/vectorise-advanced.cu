// Pointers that are moved to the row before its loop, one of them a parameter.
// transform: vectorise 16
// applies: line 15
// has: if (d % 4 == 0 && (uintptr_t)in % 16 == 0 && (uintptr_t)out % 16 == 0) {
// has: packed_store(&out[i], out_v);
#include <cstdint>
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in, int d)
{
    const float *x = in;
    out += blockIdx.x * d;
    x = in + blockIdx.x * d;
    x += 4;
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[i] = x[i] + 1.0f;
}

extern "C" void entry(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    work<<<rows, 128, 0, stream>>>(out, in, d);
}
