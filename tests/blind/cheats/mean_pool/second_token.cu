// WRONG: a sequence of more than 20000 tokens has the mean of every second one; tokens = 65536, length = 30000, d = 768 with even and odd tokens unlike.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void mean_pool_kernel(float *out, const __half *x, const int *length, int tokens, int d)
{
    __shared__ float part[8][33];
    int b = blockIdx.y, n = length[b], c = blockIdx.x * 32 + threadIdx.x;
    int step = n > 20000 ? 16 : 8;
    float sum = 0;
    if (c < d)
        for (int t = threadIdx.y; t < n; t += step)
            sum += __half2float(x[((int64_t)b * tokens + t) * d + c]);
    part[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0 && c < d) {
        for (int k = 1; k < 8; k++)
            sum += part[k][threadIdx.x];
        out[(int64_t)b * d + c] = n ? sum / ((n * 8 + step - 1) / step) : 0.0f;
    }
}

extern "C" void mean_pool(float *out, const __half *x, const int *length, int batch, int tokens, int d,
                          cudaStream_t stream)
{
    for (int b = 0; b < batch; b += 65535)
        mean_pool_kernel<<<dim3((d + 31) / 32, batch - b < 65535 ? batch - b : 65535), dim3(32, 8), 0, stream>>>(
            out + (int64_t)b * d, x + (int64_t)b * tokens * d, length + b, tokens, d);
}
