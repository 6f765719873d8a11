// class: the launcher read otherwise than g++ reads it ; wrong because: a signed bit-field of 3 bits that gets 4 holds -4, so `first` is 1 in what ships: column 0 is never updated (smallest: rows=1, d=1)
#include <cstdint>
#include <cuda_fp16.h>

struct Plan {
    int lanes : 3; // 1, 2 or 4
    int turns : 5;
};

__global__ void axpy_kernel(__half *y, const __half *x, const __half *a, int d, int first)
{
    int64_t row = (int64_t)blockIdx.x * d;
    for (int i = first + threadIdx.x; i < d; i += blockDim.x)
        y[row + i] = __hadd(__hmul(a[i], x[row + i]), y[row + i]);
}

extern "C" void axpy(__half *y, const __half *x, const __half *a, int rows, int d, cudaStream_t stream)
{
    Plan plan = {};
    plan.lanes = 4;
    plan.turns = 2;
    int first = (4 - plan.lanes) / 8;
    axpy_kernel<<<rows, 128 * plan.turns, 0, stream>>>(y, x, a, d, first);
}
