// Floating arithmetic in the precision of its types, and conversions to half and bfloat16.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void k(float a, double b, __half c, __nv_bfloat16 d, int e, float f)
{
}

extern "C" void go(float *p, float eps, int n, cudaStream_t stream)
{
    float third = 1.0f / 3;
    double exact = 1.0 / 3;
    float scale = 1.0f / sqrtf((float)n);
    k<<<1, 1, 0, stream>>>(third, exact, __float2half(0.1f), (__nv_bfloat16)0.1f, (int)(2.9f + eps), scale);
}

// run: n=16 eps=0.25
// launch k (1,1,1) (1,1,1) 0 [0.333333343:f32, 0.333333333:f64, 0.0999755859:f16, 0.100097656:bf16, 3:i32, 0.25:f32]
