// expect: unsafe
// row 16: The memset counts elements, not bytes.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void mean_pool_kernel(float *out, const __half *x, const int *length, int tokens, int d)
{
    int b = blockIdx.x, n = length[b];
    for (int c = threadIdx.x; c < d; c += blockDim.x)
        for (int t = blockIdx.y; t < n; t += gridDim.y)
            atomicAdd(&out[(int64_t)b * d + c], __half2float(x[((int64_t)b * tokens + t) * d + c]) / n);
}

extern "C" void mean_pool(float *out, const __half *x, const int *length, int batch, int tokens, int d,
                          cudaStream_t stream)
{
    cudaMemsetAsync(out, 0, (size_t)batch * d, stream);
    mean_pool_kernel<<<dim3(batch, 8), 256, 0, stream>>>(out, x, length, tokens, d);
}
