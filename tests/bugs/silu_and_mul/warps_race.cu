// expect: unsafe words race
// row 15: Warps exchange values without a barrier.
#include <cstdint>
#include <cuda_fp16.h>
__global__ void kernel(__half *out, const __half *in, int rows, int d)
{
    __shared__ __half s[256];
    const __half *x = in + (int64_t)blockIdx.x * 2 * d;
    for (int base = 0; base < d; base += 256) {
        int i = base + threadIdx.x;
        __syncthreads();
        if (i < d)
            s[threadIdx.x] = x[d + i];
        int j = base + (threadIdx.x ^ 32);
        if (j < d) {
            float v = __half2float(x[j]);
            out[(int64_t)blockIdx.x * d + j] = __float2half(v / (1.0f + expf(-v)) * __half2float(s[threadIdx.x ^ 32]));
        }
    }
}
extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    kernel<<<rows, 256, 0, stream>>>(out, in, rows, d);
}
