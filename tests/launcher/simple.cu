// The example of the documentation.
#include <cuda_fp16.h>

constexpr int BLOCK = 128; // astra: tune 64 128 256 512

__global__ void silu_and_mul_kernel(const __half *in, __half *out, int rows, int d)
{
}

extern "C" void go(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    dim3 grid((d + BLOCK - 1) / BLOCK, rows);
    silu_and_mul_kernel<<<grid, BLOCK, 0, stream>>>(in, out, rows, d);
}

// run: rows=4 d=100
// launch silu_and_mul_kernel (1,4,1) (128,1,1) 0 [in, out, 4:i32, 100:i32]
// run: rows=64 d=8192
// launch silu_and_mul_kernel (64,64,1) (128,1,1) 0 [in, out, 64:i32, 8192:i32]
