// expect: correct
// Pairs, with a tail.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__device__ __forceinline__ float silu(float x)
{
    return x / (1.0f + __expf(-x));
}

__global__ void __launch_bounds__(256) pairs(__half2 *__restrict__ out, const __half2 *__restrict__ in, int d2)
{
    const size_t row = blockIdx.y;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= d2)
        return;
    const float2 x = __half22float2(in[row * 2 * d2 + i]);
    const float2 g = __half22float2(__ldg(&in[row * 2 * d2 + d2 + i]));
    out[row * d2 + i] = __floats2half2_rn(silu(x.x) * g.x, silu(x.y) * g.y);
}

__global__ void singles(__half *__restrict__ out, const __half *__restrict__ in, int d)
{
    const size_t row = blockIdx.y;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < d) {
        const float x = __half2float(in[row * 2 * d + i]);
        out[row * d + i] = __float2half_rn(silu(x) * __half2float(in[row * 2 * d + d + i]));
    }
}

extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    const int threads = 256;
    if (d % 2 == 0) {
        dim3 grid((d / 2 + threads - 1) / threads, rows);
        pairs<<<grid, threads, 0, stream>>>(reinterpret_cast<__half2 *>(out),
                                            reinterpret_cast<const __half2 *>(in), d / 2);
    } else {
        dim3 grid((d + threads - 1) / threads, rows);
        singles<<<grid, threads, 0, stream>>>(out, in, d);
    }
}
