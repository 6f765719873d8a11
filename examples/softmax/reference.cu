// The exact answer in double: one block per row.
#include <math_constants.h>

__global__ void softmax_kernel(double *out, const double *in, int d)
{
    __shared__ double partial[128];
    int tid = threadIdx.x;
    long long row = (long long)blockIdx.x * d;

    double largest = -CUDART_INF;
    for (long long i = tid; i < d; i += 128)
        largest = in[row + i] > largest ? in[row + i] : largest;
    partial[tid] = largest;
    __syncthreads();
    for (int step = 64; step > 0; step /= 2) {
        if (tid < step && partial[tid + step] > partial[tid])
            partial[tid] = partial[tid + step];
        __syncthreads();
    }
    largest = partial[0];
    __syncthreads();

    double sum = 0.0;
    for (long long i = tid; i < d; i += 128)
        sum += exp(in[row + i] - largest);
    partial[tid] = sum;
    __syncthreads();
    for (int step = 64; step > 0; step /= 2) {
        if (tid < step)
            partial[tid] += partial[tid + step];
        __syncthreads();
    }

    for (long long i = tid; i < d; i += 128)
        out[row + i] = exp(in[row + i] - largest) / partial[0];
}

extern "C" void softmax(double *out, const double *in, int rows, int d, cudaStream_t stream)
{
    softmax_kernel<<<rows, 128, 0, stream>>>(out, in, d);
}
