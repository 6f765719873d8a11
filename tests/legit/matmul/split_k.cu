// expect: correct
// Parts of k in blocks of their own, sums of parts in a workspace, added in order by a second kernel.
#include <cstdint>
#include <cuda_fp16.h>

enum { PARTS = 4 };

__global__ void parts(float *w, const __half *a, const __half *b, int m, int n, int k)
{
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 4 + threadIdx.y;
    int from = (int)((int64_t)k * blockIdx.z / PARTS), to = (int)((int64_t)k * (blockIdx.z + 1) / PARTS);
    float sum = 0.0f;
    if (row >= m || col >= n)
        return;
    for (int i = from; i < to; i++)
        sum = fmaf(__half2float(a[(int64_t)row * k + i]), __half2float(b[(int64_t)i * n + col]), sum);
    w[((int64_t)blockIdx.z * m + row) * n + col] = sum;
}

__global__ void join(__half *c, const float *w, int64_t size)
{
    int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x;
    if (i >= size)
        return;
    float sum = 0.0f;
    for (int part = 0; part < PARTS; part++)
        sum += w[part * size + i];
    c[i] = __float2half(sum);
}

extern "C" void matmul(__half *c, const __half *a, const __half *b, int m, int n, int k, cudaStream_t stream)
{
    int64_t size = (int64_t)m * n;
    float *w;
    cudaMallocAsync((void **)&w, PARTS * size * sizeof(float), stream);
    parts<<<dim3((n + 31) / 32, (m + 3) / 4, PARTS), dim3(32, 4), 0, stream>>>(w, a, b, m, n, k);
    join<<<(size + 255) / 256, 256, 0, stream>>>(c, w, size);
    cudaFreeAsync(w, stream);
}
