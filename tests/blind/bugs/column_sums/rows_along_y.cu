// WRONG: blocks of 128 rows stand along the grid's y, which ends at 65535; rows above 8388480 cannot be launched.
#include <cstdint>

__global__ void column_kernel(float *sums, const float *x, int rows, int d)
{
    __shared__ float s[8][33];
    int c = blockIdx.x * 32 + threadIdx.x;
    int64_t first = (int64_t)blockIdx.y * 128;
    float sum = 0;
    if (c < d)
        for (int64_t r = first + threadIdx.y; r < first + 128 && r < rows; r += 8)
            sum += x[r * d + c];
    s[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0 && c < d) {
        for (int k = 1; k < 8; k++)
            sum += s[k][threadIdx.x];
        atomicAdd(&sums[c], sum);
    }
}

extern "C" void column_sums(float *sums, const float *x, int rows, int d, cudaStream_t stream)
{
    column_kernel<<<dim3((d + 31) / 32, (unsigned)(((int64_t)rows + 127) / 128)), dim3(32, 8), 0, stream>>>(sums, x, rows,
                                                                                                          d);
}
