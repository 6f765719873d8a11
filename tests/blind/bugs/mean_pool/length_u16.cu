// class: integer range at the last value of the domain ; wrong because: lengths are kept in 16 bits, but a length may be tokens = 65536, which becomes 0 and gives zeros (smallest: batch=1, tokens=65536, d=1, length {65536})
#include <cstdint>
#include <cuda_fp16.h>

__global__ void mean_pool_kernel(float *out, const __half *x, const int *length, int tokens, int d)
{
    __shared__ uint16_t shared;
    int b = blockIdx.y, c = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0)
        shared = (uint16_t)length[b];
    __syncthreads();
    if (c >= d)
        return;
    int n = shared;
    const __half *p = x + (int64_t)b * tokens * d + c;
    float sum = 0;
#pragma unroll 4
    for (int t = 0; t < n; t++)
        sum += __half2float(p[(int64_t)t * d]);
    out[(int64_t)b * d + c] = n ? sum / n : 0.0f;
}

extern "C" void mean_pool(float *out, const __half *x, const int *length, int batch, int tokens, int d,
                          cudaStream_t stream)
{
    mean_pool_kernel<<<dim3((d + 127) / 128, batch), 128, 0, stream>>>(out, x, length, tokens, d);
}
