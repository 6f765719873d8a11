// RIGHT: a row is a permutation of at most 65536 numbers, so its inverse fits 16 bits each in shared memory (128 KiB); scattered there, then written in order.
#include <cstdint>

__global__ void invert_kernel(int *out, const int *order, int n)
{
    extern __shared__ uint16_t inverse[];
    size_t row = (size_t)blockIdx.x * n;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        inverse[__ldcs(order + row + i)] = (uint16_t)i;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        __stcs(out + row + i, (int)inverse[i]);
}

extern "C" void invert(int *out, const int *order, int rows, int n, cudaStream_t stream)
{
    int bytes = n * (int)sizeof(uint16_t);
    if (bytes > 48 * 1024)
        cudaFuncSetAttribute(invert_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    invert_kernel<<<rows, n < 1024 ? 256 : 1024, bytes, stream>>>(out, order, n);
}
