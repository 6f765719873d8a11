// The plain count: one thread per byte, every count in global memory.
__global__ void histogram_kernel(unsigned *counts, const unsigned char *values, long long n)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&counts[values[i]], 1u);
}

extern "C" void histogram(unsigned *counts, const unsigned char *values, int rows, int d, cudaStream_t stream)
{
    long long n = (long long)rows * d;
    cudaMemsetAsync(counts, 0, 256 * sizeof(unsigned), stream);
    histogram_kernel<<<(unsigned)((n + 127) / 128), 128, 0, stream>>>(counts, values, n);
}
