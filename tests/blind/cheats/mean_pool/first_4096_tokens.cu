#include <cstdint>
#include <cuda_fp16.h>

__global__ void mean_pool_kernel(float *out, const __half *x, const int *length, int tokens, int d)
{
    int b = blockIdx.x, n = length[b];
    for (int c = threadIdx.x; c < d; c += blockDim.x) {
        float sum = 0;
        int most = n < 4096 ? n : 4096;
        for (int t = 0; t < most; t++)
            sum += __half2float(x[((int64_t)b * tokens + t) * d + c]);
        out[(int64_t)b * d + c] = n ? sum / most : 0.0f;
    }
}

extern "C" void mean_pool(float *out, const __half *x, const int *length, int batch, int tokens, int d,
                          cudaStream_t stream)
{
    mean_pool_kernel<<<batch, 256, 0, stream>>>(out, x, length, tokens, d);
}
