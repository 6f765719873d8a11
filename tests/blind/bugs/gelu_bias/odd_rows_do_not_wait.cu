// wrong because: Begins early; the wait for the kernel ahead stands in the vector path only, and rows that are no whole vectors (d % 8 != 0) are read and written without it.
#include <cstdint>
#include <cuda_fp16.h>

__device__ __forceinline__ float gelu(float v) { return 0.5f * v * (1.0f + erff(v * 0.70710678f)); }

__global__ void __launch_bounds__(256) gelu_kernel(__half *x, const __half *bias, int64_t n, int64_t d)
{
    if (d % 8 == 0) {
        int64_t first = (int64_t)blockIdx.x * 256 + threadIdx.x, each = d / 8;
        uint4 b = reinterpret_cast<const uint4 *>(bias)[first % each];
        asm volatile("griddepcontrol.wait;" ::: "memory");
        for (int64_t i = first; i < n / 8; i += (int64_t)gridDim.x * 256) {
            if (i != first)
                b = reinterpret_cast<const uint4 *>(bias)[i % each];
            uint4 v = reinterpret_cast<uint4 *>(x)[i];
            __half2 *h = reinterpret_cast<__half2 *>(&v), *hb = reinterpret_cast<__half2 *>(&b);
#pragma unroll
            for (int j = 0; j < 4; j++) {
                float2 f = __half22float2(h[j]), g = __half22float2(hb[j]);
                h[j] = __floats2half2_rn(gelu(f.x + g.x), gelu(f.y + g.y));
            }
            reinterpret_cast<uint4 *>(x)[i] = v;
        }
    } else {
        for (int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x; i < n; i += (int64_t)gridDim.x * 256)
            x[i] = __float2half(gelu(__half2float(x[i]) + __half2float(bias[i % d])));
    }
}

extern "C" void gelu_bias(__half *x, const __half *bias, int64_t tokens, int64_t d, cudaStream_t stream)
{
    int64_t n = tokens * d, wanted = ((d % 8 ? n : n / 8) + 255) / 256;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((unsigned)(wanted < 65536 ? wanted : 65536));
    config.blockDim = dim3(256);
    config.stream = stream;
    cudaLaunchAttribute attribute[1];
    attribute[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute[0].val.programmaticStreamSerializationAllowed = 1;
    config.attrs = attribute;
    config.numAttrs = 1;
    cudaLaunchKernelEx(&config, gelu_kernel, x, bias, n, d);
}
