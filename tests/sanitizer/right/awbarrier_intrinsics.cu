// The split barrier of <cuda_awbarrier.h>, which declares integer types itself.
// buffer: out f32 64 out
// buffer: in f32 64 in
// launch: kernel grid 1 block 64 args out in
#include <cstdint>
#include <cuda_awbarrier.h>
extern "C" __global__ void kernel(float *out, const float *in)
{
    __shared__ __mbarrier_t b;
    __shared__ float s[64];
    if (threadIdx.x == 0)
        __mbarrier_init(&b, 64);
    __syncthreads();
    s[threadIdx.x] = in[threadIdx.x];
    __mbarrier_token_t t = __mbarrier_arrive(&b);
    while (!__mbarrier_test_wait(&b, t))
        ;
    out[threadIdx.x] = s[63 - threadIdx.x];
}
