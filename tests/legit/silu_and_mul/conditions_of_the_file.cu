// expect: correct
// Conditions of the preprocessor on the architecture, the language, other platforms and the file's own names.
#ifndef _SILU_AND_MUL_CU_
#define _SILU_AND_MUL_CU_
#include <cstdint>
#include <cuda_fp16.h>
#if defined(_MSC_VER) || defined(__HIP_PLATFORM_AMD__)
#error this file is for nvcc
#endif
#ifdef USE_SLOW_PATH
#define STEP 1
#endif
#if __cplusplus >= 201703L && !defined(STEP)
#define STEP 1
#endif
#ifndef THREADS
#define THREADS 256
#endif

__global__ void kernel(__half *out, const __half *in, int rows, int d)
{
    const __half *x = in + (int64_t)blockIdx.x * 2 * d;
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        float v = __half2float(x[i]);
#if __CUDA_ARCH__ >= 800
        v = fminf(v, 3.402823466e+38f);
#endif
        out[(int64_t)blockIdx.x * d + i] = __float2half(v / (1.0f + expf(-v)) * __half2float(x[d + i]));
    }
}
extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    kernel<<<rows, THREADS, 0, stream>>>(out, in, rows, d);
}
#endif
