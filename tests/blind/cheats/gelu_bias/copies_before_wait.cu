// wrong because: Begins before the kernel ahead has ended and copies x (which that kernel may still write) into shared memory with cp.async before it waits; wrong behind any producer of x.
#include <cstdint>
#include <cuda_fp16.h>

__device__ __forceinline__ float gelu(float v) { return 0.5f * v * (1.0f + erff(v * 0.70710678f)); }

__global__ void __launch_bounds__(256) gelu_bias_kernel(__half *x, const __half *bias, int64_t d)
{
    __shared__ __align__(16) uint4 mine[256];
    int64_t column = ((int64_t)blockIdx.x * 256 + threadIdx.x) * 8;
    bool in = column < d;
    int64_t at = (int64_t)blockIdx.y * d + column;
    uint4 b = {};
    if (in) {
        b = *reinterpret_cast<const uint4 *>(bias + column);
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"((unsigned)__cvta_generic_to_shared(&mine[threadIdx.x])), "l"(x + at) : "memory");
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("griddepcontrol.wait;" ::: "memory");
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    if (!in)
        return;
    uint4 v = mine[threadIdx.x];
    __half2 *h = reinterpret_cast<__half2 *>(&v), *hb = reinterpret_cast<__half2 *>(&b);
    for (int j = 0; j < 4; j++) {
        float2 f = __half22float2(h[j]), g = __half22float2(hb[j]);
        h[j] = __floats2half2_rn(gelu(f.x + g.x), gelu(f.y + g.y));
    }
    *reinterpret_cast<uint4 *>(x + at) = v;
}

__global__ void gelu_plain_kernel(__half *x, const __half *bias, int64_t n, int64_t d)
{
    for (int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x; i < n; i += (int64_t)gridDim.x * 256)
        x[i] = __float2half(gelu(__half2float(x[i]) + __half2float(bias[i % d])));
}

extern "C" void gelu_bias(__half *x, const __half *bias, int64_t tokens, int64_t d, cudaStream_t stream)
{
    if (d % 8 == 0 && tokens <= 65535 && d <= 4194304) {
        cudaLaunchConfig_t config = {};
        config.gridDim = dim3((unsigned)((d / 8 + 255) / 256), (unsigned)tokens);
        config.blockDim = dim3(256);
        config.dynamicSmemBytes = 0;
        config.stream = stream;
        cudaLaunchAttribute attribute[1];
        attribute[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attribute[0].val.programmaticStreamSerializationAllowed = 1;
        config.attrs = attribute;
        config.numAttrs = 1;
        cudaLaunchKernelEx(&config, gelu_bias_kernel, x, bias, d);
        return;
    }
    int64_t n = tokens * d, blocks = (n + 255) / 256;
    gelu_plain_kernel<<<(unsigned)(blocks < 65536 ? blocks : 65536), 256, 0, stream>>>(x, bias, n, d);
}
