// expect: unsafe words nothing wrote 'out'
// row 16: Atomics add to what was there.
#include <cstdint>

__global__ void sum_kernel(float *out, const float *in, int64_t n)
{
    for (int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x; i < n; i += (int64_t)gridDim.x * 256)
        atomicAdd(out, in[i]);
}

extern "C" void sum(float *out, const float *in, int64_t n, cudaStream_t stream)
{
    sum_kernel<<<64, 256, 0, stream>>>(out, in, n);
}
