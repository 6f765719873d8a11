// expect: unsafe words races
// row 15: A warp computes what another writes, and gives it time instead of a barrier.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void kernel(__half *out, const __half *in, int d)
{
    __shared__ float products[128];
    const __half *x = in + (int64_t)blockIdx.x * 2 * d;
    for (int base = 0; base < d; base += 128) {
        int i = base + (threadIdx.x ^ 64);
        if (i < d) {
            float v = __half2float(x[i]);
            products[threadIdx.x ^ 64] = v / (1.0f + expf(-v)) * __half2float(x[d + i]);
        }
        __nanosleep(1000);
        if (base + (int)threadIdx.x < d)
            out[(int64_t)blockIdx.x * d + base + threadIdx.x] = __float2half(products[threadIdx.x]);
        __nanosleep(1000);
    }
}

extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    kernel<<<rows, 128, 0, stream>>>(out, in, d);
}
