// A wrapper that throws where sizes are not as it wants them, through a macro.
#include <torch/extension.h>

#define CHECK_SHAPE(t, rows, cols)                                                                                     \
    if (((t).size(0) != (rows)) || ((t).size(1) != (cols))) {                                                          \
        throw std::runtime_error("Tensor size mismatch!");                                                             \
    }

__global__ void row_dot_kernel(const float *a, const float *x, float *y, int rows, int k)
{
    int row = blockIdx.x;
    float sum = 0.0f;

    for (int i = threadIdx.x; i < k; i += 32) // whole warps: k is a multiple of 32
        sum += a[row * k + i] * x[i];
    for (int step = 16; step; step /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, step);
    if (threadIdx.x == 0)
        y[row] = sum;
}

void row_dot(torch::Tensor a, torch::Tensor x, torch::Tensor y)
{
    const int M = a.size(0);
    const int K = a.size(1);
    CHECK_SHAPE(a, M, K)
    CHECK_SHAPE(x, K, 1)
    CHECK_SHAPE(y, M, 1)
    if (K % 32 != 0)
        throw std::runtime_error("K must be a multiple of 32");
    row_dot_kernel<<<M, 32>>>(reinterpret_cast<float *>(a.data_ptr()), reinterpret_cast<float *>(x.data_ptr()),
                              reinterpret_cast<float *>(y.data_ptr()), M, K);
}
