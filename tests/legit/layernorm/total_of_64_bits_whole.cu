// expect: correct
// The second launch strides over all elements, which it counts in 64 bits.
#include <cstdint>
#include <cuda_fp16.h>

__device__ float all(float v)
{
    __shared__ float parts[8];
    for (int k = 16; k; k /= 2)
        v += __shfl_xor_sync(~0u, v, k);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = v;
    __syncthreads();
    v = 0.0f;
    for (int w = 0; w < 8; w++)
        v += parts[w];
    return v;
}

__global__ void measure(float *numbers, const __half *in, int d, float eps)
{
    const __half *row = in + (int64_t)blockIdx.x * d;
    float sum = 0.0f, squares = 0.0f;
    for (int i = threadIdx.x; i < d; i += 256)
        sum += __half2float(row[i]);
    float mean = all(sum) / d;
    for (int i = threadIdx.x; i < d; i += 256) {
        float v = __half2float(row[i]) - mean;
        squares += v * v;
    }
    squares = all(squares);
    if (threadIdx.x == 0) {
        numbers[2 * (int64_t)blockIdx.x] = mean;
        numbers[2 * (int64_t)blockIdx.x + 1] = rsqrtf(squares / d + eps);
    }
}

__global__ void scale(__half *out, const __half *in, const __half *weight, const __half *bias, const float *numbers,
                      int64_t total, int d)
{
    for (int64_t i = blockIdx.x * 256 + threadIdx.x; i < total; i += gridDim.x * 256) {
        int64_t row = i / d, column = i % d;
        float v = (__half2float(in[i]) - numbers[2 * row]) * numbers[2 * row + 1];
        out[i] = __float2half(v * __half2float(weight[column]) + __half2float(bias[column]));
    }
}

extern "C" void layernorm(__half *out, const __half *in, const __half *weight, const __half *bias, int rows, int d,
                          float eps, cudaStream_t stream)
{
    float *numbers;
    int64_t total = (int64_t)rows * d, blocks = (total + 255) / 256;
    if (cudaMallocAsync((void **)&numbers, (size_t)rows * 8, stream) != cudaSuccess)
        return;
    measure<<<rows, 256, 0, stream>>>(numbers, in, d, eps);
    scale<<<(unsigned)(blocks < 8192 ? blocks : 8192), 256, 0, stream>>>(out, in, weight, bias, numbers, total, d);
    cudaFreeAsync(numbers, stream);
}
