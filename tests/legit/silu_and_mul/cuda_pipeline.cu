// expect: correct
// cuda::pipeline in two stages.
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

__global__ void staged(__half *out, const __half *in, int d)
{
    extern __shared__ __align__(16) unsigned char raw[];
    __half *stage = reinterpret_cast<__half *>(raw);
    const __half *x = in + (size_t)blockIdx.x * 2 * d;
    const int chunk = blockDim.x * 8;

    for (int base = 0; base < d; base += chunk) {
        int i = base + threadIdx.x * 8;
        if (i < d) {
            __pipeline_memcpy_async(&stage[threadIdx.x * 8], &x[i], 16);
            __pipeline_memcpy_async(&stage[chunk + threadIdx.x * 8], &x[d + i], 16);
        }
        __pipeline_commit();
        __pipeline_wait_prior(0);
        if (i < d) {
            for (int k = 0; k < 8; k++) {
                float a = __half2float(stage[threadIdx.x * 8 + k]);
                float b = __half2float(stage[chunk + threadIdx.x * 8 + k]);
                out[(size_t)blockIdx.x * d + i + k] = __float2half(a / (1.0f + expf(-a)) * b);
            }
        }
    }
}

__global__ void plain(__half *out, const __half *in, int d)
{
    const __half *x = in + (size_t)blockIdx.x * 2 * d;
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        float a = __half2float(x[i]);
        out[(size_t)blockIdx.x * d + i] = __float2half(a / (1.0f + expf(-a)) * __half2float(x[d + i]));
    }
}

extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    constexpr int threads = 512;
    constexpr size_t bytes = 2 * threads * 8 * sizeof(__half);
    if (d % 8) {
        plain<<<rows, threads, 0, stream>>>(out, in, d);
        return;
    }
    cudaFuncSetAttribute(staged, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    staged<<<rows, threads, bytes, stream>>>(out, in, d);
}
