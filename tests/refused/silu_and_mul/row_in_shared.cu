// expect: not-understood words above the default limit
#include <cstdint>
#include <cuda_fp16.h>
__global__ void kernel(__half *out, const __half *in, int rows, int d)
{
    extern __shared__ __half s[];
    const __half *x = in + (int64_t)blockIdx.x * 2 * d;
    for (int i = threadIdx.x; i < 2 * d; i += blockDim.x)
        s[i] = x[i];
    __syncthreads();
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        float v = __half2float(s[i]);
        out[(int64_t)blockIdx.x * d + i] = __float2half(v / (1.0f + expf(-v)) * __half2float(s[d + i]));
    }
}
extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 4 * d);
    kernel<<<rows, 128, 4 * d, stream>>>(out, in, rows, d);
}
