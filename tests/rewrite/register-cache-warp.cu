// A warp's row, in loops whose indices have other names.
// transform: register-cache 2
// applies: line 17
// has: const int j = threadIdx.x % 32 + item * 32;
// has: out[row * d + j] = x_kept[item] - sum / d;
// has: if (d <= 2 * 32) {
#include <cuda_runtime.h>

__global__ void work(float *out, const float *x, int rows, int d)
{
    int row = blockIdx.x * 4 + threadIdx.x / 32;
    float sum = 0;
    for (int i = threadIdx.x % 32; i < d; i += 32) {
        const float v = x[row * d + i];
        sum += v;
    }
    for (int j = threadIdx.x % 32; j < d; j += 32)
        out[row * d + j] = x[row * d + j] - sum / d;
}

extern "C" void entry(float *out, const float *x, int rows, int d, cudaStream_t stream)
{
    work<<<rows / 4, 128, 0, stream>>>(out, x, rows, d);
}
