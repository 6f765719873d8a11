// expect: unsafe words race
// row 15: Blocks share a row by atomicMax on the value; the place is written beside it without one.
#include <cstdint>

__device__ unsigned ordered(float v)
{
    unsigned u = __float_as_uint(v);
    return v != v ? ~0u : u & 0x80000000u ? ~u : u | 0x80000000u;
}

__global__ void find(unsigned *best, int64_t *index, const float *logits, int n)
{
    const float *x = logits + (int64_t)blockIdx.y * n;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && atomicMax(&best[blockIdx.y], ordered(x[i])) < ordered(x[i]))
        index[blockIdx.y] = i;
}

__global__ void read(float *value, const int64_t *index, const float *logits, int rows, int n)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows)
        value[r] = logits[(int64_t)r * n + index[r]];
}

extern "C" void argmax(float *value, int64_t *index, const float *logits, int rows, int n, cudaStream_t stream)
{
    unsigned *best;
    cudaMallocAsync((void **)&best, rows * sizeof(unsigned), stream);
    cudaMemsetAsync(best, 0, rows * sizeof(unsigned), stream);
    find<<<dim3((n + 255) / 256, rows), 256, 0, stream>>>(best, index, logits, n);
    read<<<(rows + 255) / 256, 256, 0, stream>>>(value, index, logits, rows, n);
    cudaFreeAsync(best, stream);
}
