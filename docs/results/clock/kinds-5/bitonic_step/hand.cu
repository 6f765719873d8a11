#include <cuda_runtime.h>
// Eight values a thread: three steps in registers before and after shared memory, five by shuffles.
__device__ static void order(unsigned &a, unsigned &b)
{
    unsigned low = min(a, b), high = max(a, b);
    a = low;
    b = high;
}
__global__ void merge(unsigned *__restrict__ out, const unsigned *__restrict__ in)
{
    __shared__ unsigned v[2048];
    long long at = (long long)blockIdx.x * 2048;
    int t = threadIdx.x;
    unsigned x[8];
#pragma unroll
    for (int k = 0; k < 8; k++)
        x[k] = in[at + k * 256 + t];
#pragma unroll
    for (int d = 4; d; d /= 2)
#pragma unroll
        for (int k = 0; k < 8; k++)
            if (!(k & d))
                order(x[k], x[k + d]);
#pragma unroll
    for (int k = 0; k < 8; k++)
        v[k * 256 + t] = x[k];
    __syncthreads();
    int part = t / 32, lane = t % 32;
#pragma unroll
    for (int k = 0; k < 8; k++)
        x[k] = v[part * 256 + k * 32 + lane];
#pragma unroll
    for (int d = 4; d; d /= 2)
#pragma unroll
        for (int k = 0; k < 8; k++)
            if (!(k & d))
                order(x[k], x[k + d]);
#pragma unroll
    for (int d = 16; d; d /= 2)
#pragma unroll
        for (int k = 0; k < 8; k++) {
            unsigned other = __shfl_xor_sync(~0u, x[k], d);
            x[k] = lane & d ? max(x[k], other) : min(x[k], other);
        }
#pragma unroll
    for (int k = 0; k < 8; k++)
        out[at + part * 256 + k * 32 + lane] = x[k];
}
extern "C" void bitonic_step(unsigned *out, const unsigned *in, int rows, cudaStream_t stream)
{
    merge<<<rows, 256, 0, stream>>>(out, in);
}
