// Wrong: the vector lies in dynamic shared memory, whose limit nobody raises: nothing is launched from d = 49153 on.
#include <cstdint>

__global__ void dot_kernel(int *out, const int8_t *a, const int8_t *x, int rows, int d)
{
    extern __shared__ int8_t v[];
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        v[i] = x[i];
    __syncthreads();
    int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    int sum = 0;
    for (int i = lane; i < d; i += 32)
        sum += (int)a[(int64_t)row * d + i] * (int)v[i];
    for (int k = 16; k > 0; k /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, k);
    if (lane == 0)
        out[row] = sum;
}

extern "C" void dot_i8(int *out, const int8_t *a, const int8_t *x, int rows, int d, cudaStream_t stream)
{
    dot_kernel<<<(rows + 7) / 8, 256, d, stream>>>(out, a, x, rows, d);
}
