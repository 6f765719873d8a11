#include <cuda_runtime.h>
// Rows of nibbles times a vector: a block a row, a byte a thread at a time.
__global__ void rows_of_nibbles(float *out, const unsigned char *q, const float *scale, const float *x, int d)
{
    __shared__ float part[128];
    float sum = 0.0f;
    for (int k = threadIdx.x; k < d / 2; k += 128) {
        int b = q[(size_t)blockIdx.x * (d / 2) + k];
        sum += ((b & 15) - 8) * x[2 * k] + ((b >> 4) - 8) * x[2 * k + 1];
    }
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int s = 64; s > 0; s /= 2) {
        if (threadIdx.x < s)
            part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = part[0] * scale[blockIdx.x];
}
extern "C" void gemv_w4(float *out, const unsigned char *q, const float *scale, const float *x, int rows, int d, cudaStream_t stream)
{
    rows_of_nibbles<<<rows, 128, 0, stream>>>(out, q, scale, x, d);
}
