// out[r] = scale[r] * sum over k of weight[r][k] * x[k], weights of 8 bits; one block per row.
#include <cstdint>

constexpr int THREADS = 128;

__global__ void gemv_i8_kernel(float *out, const signed char *weight, const float *scale, const float *x, int k)
{
    __shared__ float partial[THREADS];
    int tid = threadIdx.x;
    int64_t row = (int64_t)blockIdx.x * k;

    float sum = 0.0f;
    for (int i = tid; i < k; i += THREADS)
        sum += (float)weight[row + i] * x[i];
    partial[tid] = sum;
    __syncthreads();
    for (int step = THREADS / 2; step > 0; step /= 2) {
        if (tid < step)
            partial[tid] += partial[tid + step];
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = partial[0] * scale[blockIdx.x];
}

extern "C" void gemv_i8(float *out, const signed char *weight, const float *scale, const float *x, int rows, int k,
                        cudaStream_t stream)
{
    gemv_i8_kernel<<<rows, THREADS, 0, stream>>>(out, weight, scale, x, k);
}
