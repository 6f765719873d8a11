// expect: correct
// A lock that blocks take in turn; who waits for it naps, for longer each time but never long.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void kernel(__half *out, const __half *in, int rows, int d, int *lock)
{
    const __half *x = in + (int64_t)blockIdx.x * 2 * d;
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        float v = __half2float(x[i]);
        out[(int64_t)blockIdx.x * d + i] = __float2half(v / (1.0f + expf(-v)) * __half2float(x[d + i]));
    }
    if (threadIdx.x == 0) {
        unsigned naps = 8;
        while (atomicCAS(lock, 0, 1) != 0) {
            __nanosleep(naps);
            naps = naps < 256 ? 2 * naps : 256;
        }
        __threadfence();
        atomicExch(lock, 0);
    }
}

extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    int *lock;
    cudaMallocAsync(&lock, sizeof(int), stream);
    cudaMemsetAsync(lock, 0, sizeof(int), stream);
    kernel<<<rows, 128, 0, stream>>>(out, in, rows, d, lock);
    cudaFreeAsync(lock, stream);
}
