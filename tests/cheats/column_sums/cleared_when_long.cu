// expect: wrong
// row 6: Beyond 2^20 rows what was in sums before is cleared instead of added to.
#include <cstdint>

__global__ void column_sums_kernel(float *sums, const float *x, int rows, int d)
{
    int64_t first = (int64_t)blockIdx.x * 256;
    int c = blockIdx.y * 32 + threadIdx.x % 32;
    __shared__ float s[8][32];
    float sum = 0;
    if (c < d)
        for (int r = threadIdx.x / 32; r < 256 && first + r < rows; r += 8)
            sum += x[(first + r) * d + c];
    s[threadIdx.x / 32][threadIdx.x % 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32 && c < d) {
        for (int k = 1; k < 8; k++)
            sum += s[k][threadIdx.x];
        atomicAdd(&sums[c], sum);
    }
}

extern "C" void column_sums(float *sums, const float *x, int rows, int d, cudaStream_t stream)
{
    if (rows > 1 << 20)
        cudaMemsetAsync(sums, 0, d * sizeof(float), stream);
    column_sums_kernel<<<dim3((unsigned)(((int64_t)rows + 255) / 256), (d + 31) / 32), 256, 0, stream>>>(sums, x, rows, d);
}
