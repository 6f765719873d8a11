// loss[r] = log(sum over i of exp(logits[r][i])) - logits[r][label[r]], by the largest logit; one block per row.
#include <cstdint>
#include <math_constants.h>

constexpr int THREADS = 128;

__global__ void cross_entropy_kernel(float *loss, const float *logits, const int *label, int d)
{
    __shared__ float partial[THREADS];
    int tid = threadIdx.x;
    const float *row = logits + (int64_t)blockIdx.x * d;

    float largest = -CUDART_INF_F;
    for (int i = tid; i < d; i += THREADS)
        largest = fmaxf(largest, row[i]);
    partial[tid] = largest;
    __syncthreads();
    for (int step = THREADS / 2; step > 0; step /= 2) {
        if (tid < step)
            partial[tid] = fmaxf(partial[tid], partial[tid + step]);
        __syncthreads();
    }
    largest = partial[0];
    __syncthreads();

    float sum = 0.0f;
    for (int i = tid; i < d; i += THREADS)
        sum += expf(row[i] - largest);
    partial[tid] = sum;
    __syncthreads();
    for (int step = THREADS / 2; step > 0; step /= 2) {
        if (tid < step)
            partial[tid] += partial[tid + step];
        __syncthreads();
    }
    if (tid == 0)
        loss[blockIdx.x] = logf(partial[0]) + (largest - row[label[blockIdx.x]]);
}

extern "C" void cross_entropy(float *loss, const float *logits, const int *label, int rows, int d,
                              cudaStream_t stream)
{
    cross_entropy_kernel<<<rows, THREADS, 0, stream>>>(loss, logits, label, d);
}
