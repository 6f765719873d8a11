#include <cuda_runtime.h>
// Merges runs of 1024 in opposite order into one of 2048: eleven steps, a launch of blocks of 1024 in shared memory.
__global__ void merge(unsigned *out, const unsigned *in)
{
    __shared__ unsigned v[2048];
    long long at = (long long)blockIdx.x * 2048;
    v[threadIdx.x] = in[at + threadIdx.x];
    v[threadIdx.x + 1024] = in[at + threadIdx.x + 1024];
    for (int d = 1024; d; d /= 2) {
        __syncthreads();
        int a = threadIdx.x / d * 2 * d + threadIdx.x % d, b = a + d;
        unsigned x = v[a], y = v[b];
        v[a] = x < y ? x : y;
        v[b] = x < y ? y : x;
    }
    __syncthreads();
    out[at + threadIdx.x] = v[threadIdx.x];
    out[at + threadIdx.x + 1024] = v[threadIdx.x + 1024];
}
extern "C" void bitonic_step(unsigned *out, const unsigned *in, int rows, cudaStream_t stream)
{
    merge<<<rows, 1024, 0, stream>>>(out, in);
}
