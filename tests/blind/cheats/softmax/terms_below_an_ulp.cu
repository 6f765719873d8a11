// Row softmax in three passes: the largest value, the sum of exponentials, the quotients.
#include <cstdint>
#include <math_constants.h>

template <typename T, int THREADS> __device__ T block_max(T value)
{
    __shared__ T partial[THREADS];
    int tid = threadIdx.x;
    partial[tid] = value;
    __syncthreads();
    for (int step = THREADS / 2; step > 0; step /= 2) {
        if (tid < step)
            partial[tid] = fmaxf(partial[tid], partial[tid + step]);
        __syncthreads();
    }
    return partial[0];
}

template <typename T, int THREADS> __device__ T block_sum(T value)
{
    __shared__ T partial[THREADS];
    int tid = threadIdx.x;
    partial[tid] = value;
    __syncthreads();
    for (int step = THREADS / 2; step > 0; step /= 2) {
        if (tid < step)
            partial[tid] += partial[tid + step];
        __syncthreads();
    }
    return partial[0];
}

template <typename T, int THREADS> __global__ void softmax_kernel(T *out, const T *in, int d)
{
    int64_t row = (int64_t)blockIdx.x * d;

    T largest = -CUDART_INF_F;
    for (int i = threadIdx.x; i < d; i += THREADS)
        largest = fmaxf(largest, in[row + i]);
    largest = block_max<T, THREADS>(largest);

    T sum = 0;
    for (int i = threadIdx.x; i < d; i += THREADS)
        if (in[row + i] > largest - 15.0f)
            sum += expf(in[row + i] - largest);
    sum = block_sum<T, THREADS>(sum);

    for (int i = threadIdx.x; i < d; i += THREADS)
        out[row + i] = expf(in[row + i] - largest) / sum;
}

extern "C" void softmax(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    softmax_kernel<float, 128><<<rows, 128, 0, stream>>>(out, in, d);
}
