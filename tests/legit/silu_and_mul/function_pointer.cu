// expect: correct
// A pointer to a device function.
#include <cstdint>
#include <cuda_fp16.h>
typedef float (*act_t)(float);
__device__ float silu(float x) { return x / (1.0f + expf(-x)); }
__device__ float relu(float x) { return x > 0 ? x : 0; }
__global__ void kernel(__half *out, const __half *in, int rows, int d)
{
    act_t act = d > 0 ? silu : relu;
    const __half *x = in + (int64_t)blockIdx.x * 2 * d;
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[(int64_t)blockIdx.x * d + i] = __float2half(act(__half2float(x[i])) * __half2float(x[d + i]));
}
extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    kernel<<<rows, 128, 0, stream>>>(out, in, rows, d);
}
