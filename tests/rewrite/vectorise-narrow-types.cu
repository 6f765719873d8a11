// Half next to float: the vector's length comes from the smaller type; the sum stays in float.
// transform: vectorise 8
// applies: line 13
// has: packed_load<4>(&in[i])
// has: packed<float, 4> out_v;
// has: (uintptr_t)in % 8 == 0
// has: (uintptr_t)out % 16 == 0
#include <cstdint>
#include <cuda_fp16.h>

__global__ void work(float *out, const __half *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = __half2float(in[i]);
}

extern "C" void entry(float *out, const __half *in, int n, cudaStream_t stream)
{
    work<<<(n + 127) / 128, 128, 0, stream>>>(out, in, n);
}
