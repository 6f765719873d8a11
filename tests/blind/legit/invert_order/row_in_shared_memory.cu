// expect: correct
// A row's inverse is scattered in shared memory, as numbers of 16 bits (n is 65536 at most: 128 KB), and written in order. Each place is written by one thread.
#include <cstdint>

__global__ void __launch_bounds__(1024) invert_kernel(int *out, const int *order, int n)
{
    extern __shared__ uint16_t inverse[];
    const int *from = order + (size_t)blockIdx.x * n;
    int *to = out + (size_t)blockIdx.x * n;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        inverse[from[i]] = (uint16_t)i;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        to[i] = inverse[i];
}

extern "C" void invert(int *out, const int *order, int rows, int n, cudaStream_t stream)
{
    int bytes = 2 * n, threads = n < 1024 ? (n + 31) / 32 * 32 : 1024;
    if (bytes > 48 * 1024)
        cudaFuncSetAttribute(invert_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    invert_kernel<<<rows, threads, bytes, stream>>>(out, order, n);
}
