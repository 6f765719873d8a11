// expect: wrong words of inputs that hold one number nearly everywhere
// row 6: Rows of more than 2^20 elements lose the last ones, behind whole vectors.
#include <cstdint>

__global__ void __launch_bounds__(1024) part_kernel(float *part, const float *in, int n, int pieces, int width)
{
    __shared__ float s[32];
    const float *x = in + (int64_t)blockIdx.y * n;
    int from = blockIdx.x * width, to = min(n, from + width);
    float sum = 0.0f;
    for (int i = from + threadIdx.x; i < to; i += 1024)
        sum += x[i];
    for (int k = 16; k; k >>= 1)
        sum += __shfl_xor_sync(~0u, sum, k);
    if (threadIdx.x % 32 == 0)
        s[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = s[threadIdx.x];
        for (int k = 16; k; k >>= 1)
            sum += __shfl_xor_sync(~0u, sum, k);
        if (threadIdx.x == 0)
            part[(int64_t)blockIdx.y * pieces + blockIdx.x] = sum;
    }
}

__global__ void last_kernel(float *out, const float *part, int rows, int pieces)
{
    int row = blockIdx.x;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < pieces; i += 32)
        sum += part[(int64_t)row * pieces + i];
    for (int k = 16; k; k >>= 1)
        sum += __shfl_xor_sync(~0u, sum, k);
    if (threadIdx.x == 0)
        out[row] = sum;
}

// The width of a piece is a whole number of vectors; long rows are cut to whole vectors.
__global__ void __launch_bounds__(256) vector_kernel(float *part, const float *in, int n, int pieces)
{
    __shared__ float s[8];
    const float *x = in + (int64_t)blockIdx.y * n;
    int head = (int)((4 - ((int64_t)blockIdx.y * n & 3)) & 3);
    int whole = n & ~3;
    float sum = 0.0f;
    for (int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x; i < whole; i += (int64_t)pieces * 256)
        sum += x[i];
    (void)head;
    for (int k = 16; k; k >>= 1)
        sum += __shfl_xor_sync(~0u, sum, k);
    if (threadIdx.x % 32 == 0)
        s[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 8; w++)
            sum += s[w];
        part[(int64_t)blockIdx.y * pieces + blockIdx.x] = sum;
    }
}

extern "C" void long_sum(float *out, const float *in, int rows, int n, cudaStream_t stream)
{
    float *part;
    if (n > 1048576) {
        int pieces = 1024;
        if (cudaMallocAsync((void **)&part, (size_t)rows * pieces * sizeof(float), stream) != cudaSuccess)
            return;
        vector_kernel<<<dim3(pieces, rows), 256, 0, stream>>>(part, in, n, pieces);
        last_kernel<<<rows, 32, 0, stream>>>(out, part, rows, pieces);
        cudaFreeAsync(part, stream);
        return;
    }
    int width = 16384, pieces = (n + width - 1) / width;
    if (cudaMallocAsync((void **)&part, (size_t)rows * pieces * sizeof(float), stream) != cudaSuccess)
        return;
    part_kernel<<<dim3(pieces, rows), 1024, 0, stream>>>(part, in, n, pieces, width);
    last_kernel<<<rows, 32, 0, stream>>>(out, part, rows, pieces);
    cudaFreeAsync(part, stream);
}
