// class: round 12 ; wrong because: lengths are kept in 16 bits: 65536 tokens are none.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void mean_pool_kernel(float *out, const __half *x, const int *length, int tokens, int d)
{
    __shared__ unsigned short shared_n;
    int b = blockIdx.y, c = blockIdx.x * 128 + threadIdx.x;
    if (threadIdx.x == 0)
        shared_n = (unsigned short)length[b];
    __syncthreads();
    int n = shared_n;
    if (c >= d)
        return;
    float sum = 0;
    const __half *p = x + (int64_t)b * tokens * d + c;
    for (int t = 0; t < n; t++, p += d)
        sum += __half2float(*p);
    out[(int64_t)b * d + c] = n ? sum / n : 0.0f;
}

extern "C" void mean_pool(float *out, const __half *x, const int *length, int batch, int tokens, int d,
                          cudaStream_t stream)
{
    mean_pool_kernel<<<dim3((d + 127) / 128, batch), 128, 0, stream>>>(out, x, length, tokens, d);
}
