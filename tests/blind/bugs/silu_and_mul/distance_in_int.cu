// WRONG: one pointer and the distance to the other buffer as an int of halves; where the two buffers lie more than 4 GiB apart (a large shape, or any shape in a large pool) it writes elsewhere.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void silu_kernel(__half *out, const __half *in, int d)
{
    int to = (int)(((int64_t)(uintptr_t)out - (int64_t)(uintptr_t)in) / 2);
    const __half *x = in + (int64_t)blockIdx.y * 2 * d;
    __half *y = (__half *)in + to + (int64_t)blockIdx.y * d;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < d; i += gridDim.x * 256) {
        float v = __half2float(x[i]);
        y[i] = __float2half(v / (1.0f + expf(-v)) * __half2float(x[d + i]));
    }
}

extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    int blocks = d / 256 + 1;
    silu_kernel<<<dim3(blocks < 64 ? blocks : 64, rows), 256, 0, stream>>>(
        out, in, d);
}
