#pragma once
#include "ggml.h"

#if defined(GGML_USE_HIP)
#include "vendors/hip.h"
#endif

#define WARP_SIZE 32

#if __CUDA_ARCH__ >= 700
#define FAST_ENOUGH 1
#endif

[[noreturn]] void ggml_cuda_error(const char * stmt, const char * func, const char * file, int line, const char * msg);

static __device__ __forceinline__ float warp_reduce_sum(float x) {
#pragma unroll
    for (int offset = 16; offset > 0; offset >>= 1) {
        x += __shfl_xor_sync(0xffffffff, x, offset, WARP_SIZE);
    }
    return x;
}
