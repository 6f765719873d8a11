// expect: correct
// Launches of some rows each where there are many of them.
#include <cstdint>

__global__ void softmax_kernel(float *out, const float *in, int d, int terms)
{
    __shared__ float partial[128];
    int64_t row = (int64_t)blockIdx.x * d;
    int tid = threadIdx.x;
    float largest = -__int_as_float(0x7f800000), sum = 0.0f;
    for (int i = tid; i < d; i += 128)
        largest = fmaxf(largest, in[row + i]);
    partial[tid] = largest;
    __syncthreads();
    for (int step = 64; step > 0; step /= 2) {
        if (tid < step)
            partial[tid] = fmaxf(partial[tid], partial[tid + step]);
        __syncthreads();
    }
    largest = partial[0];
    __syncthreads();
    for (int i = tid; i < terms; i += 128)
        sum += expf(in[row + i] - largest);
    partial[tid] = sum;
    __syncthreads();
    for (int step = 64; step > 0; step /= 2) {
        if (tid < step)
            partial[tid] += partial[tid + step];
        __syncthreads();
    }
    for (int i = tid; i < d; i += 128)
        out[row + i] = expf(in[row + i] - largest) / partial[0];
}

extern "C" void softmax(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    int step = d >= 23000 && d < 23050 ? 4096 : 16384;
    for (int first = 0; first < rows; first += step) {
        int n = rows - first < step ? rows - first : step;
        softmax_kernel<<<n, 128, 0, stream>>>(out + (int64_t)first * d, in + (int64_t)first * d, d, d);
    }
}
