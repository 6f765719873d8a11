// wrong because: k is cut into eight parts of ceil(k / 8); where the last ones are empty their blocks leave without storing zeros, and the second kernel adds what the workspace held: k = 9 (parts of 2, three are empty), m = n = 1; all k up to 7, too.
#include <cuda_fp16.h>

constexpr int PARTS = 8;

__global__ void __launch_bounds__(128) part_kernel(float *part, const __half *__restrict__ a, const __half *__restrict__ b, int m, int n, int k)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y, length = (k + PARTS - 1) / PARTS;
    int from = blockIdx.z * length, to = min(from + length, k);
    if (col >= n || from >= k)
        return;
    float sum = 0.0f;
    for (int i = from; i < to; i++)
        sum = fmaf(__half2float(a[(size_t)row * k + i]), __half2float(b[(size_t)i * n + col]), sum);
    part[((size_t)blockIdx.z * m + row) * n + col] = sum;
}

__global__ void __launch_bounds__(256) add_kernel(__half *c, const float *__restrict__ part, int elements)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= elements)
        return;
    float sum = 0.0f;
#pragma unroll
    for (int p = 0; p < PARTS; p++)
        sum += part[(size_t)p * elements + i];
    c[i] = __float2half(sum);
}

extern "C" void product(__half *c, const __half *a, const __half *b, int m, int n, int k, cudaStream_t stream)
{
    float *part;
    cudaMallocAsync((void **)&part, (size_t)PARTS * m * n * sizeof(float), stream);
    part_kernel<<<dim3((n + 127) / 128, m, PARTS), 128, 0, stream>>>(part, a, b, m, n, k);
    add_kernel<<<(m * n + 255) / 256, 256, 0, stream>>>(c, part, m * n);
    cudaFreeAsync(part, stream);
}
