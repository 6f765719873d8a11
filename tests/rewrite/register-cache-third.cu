// The row is still as it was in the third loop: loads between write nothing.
// transform: register-cache 2
// applies: line 24
// has: const four w = row_kept[item];
#include <cuda_runtime.h>

struct four {
    float at[4];
};

__device__ four packed_load(const four *from)
{
    return *from;
}

__global__ void work(float *out, four *row, int d)
{
    float sum = 0, square = 0;
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        const four v = row[i];
        sum += v.at[0];
    }
    sum = __shfl_sync(0xffffffffu, sum, 0);
    for (int j = threadIdx.x; j < d; j += blockDim.x) {
        const four v = packed_load(&row[d + j]);
        const four u = row[j];
        square += u.at[0] * sum * v.at[0];
    }
    square = __shfl_sync(0xffffffffu, square, 0);
    for (int k = threadIdx.x; k < d; k += blockDim.x) {
        const four w = row[k];
        out[k] = w.at[0] * square;
    }
}

extern "C" void entry(float *out, float *row, int d, cudaStream_t stream)
{
    work<<<1, 128, 0, stream>>>(out, (four *)row, d);
}
