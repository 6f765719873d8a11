#include <cuda_runtime.h>
// Blocks count in sketches of their own in shared memory, four packets a thread at a time, and add what is not zero to
// the whole; few packets go there at once. The remainder is taken by a reciprocal, which is at most one off.
__device__ __forceinline__ unsigned cell(unsigned &h, unsigned width, unsigned inverse)
{
    h ^= h >> 15;
    h *= 2246822519u;
    h ^= h >> 13;
    h *= 3266489917u;
    unsigned rest = h - __umulhi(h, inverse) * width;
    return min(rest, rest - width);
}
__global__ void __launch_bounds__(1024)
    note(unsigned *__restrict__ sketch, const uint4 *__restrict__ address, const ushort4 *__restrict__ size, int n,
         unsigned width, unsigned inverse)
{
    extern __shared__ unsigned own[];
    int t = threadIdx.x, cells = 4 * width;
    for (int k = t; k < cells; k += 1024)
        own[k] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 1024 + t; i < n; i += gridDim.x * 1024) {
        uint4 from = address[i];
        ushort4 bytes = size[i];
        unsigned hash[4] = {from.x, from.y, from.z, from.w}, add[4] = {bytes.x, bytes.y, bytes.z, bytes.w};
#pragma unroll
        for (int row = 0; row < 4; row++)
#pragma unroll
            for (int k = 0; k < 4; k++)
                atomicAdd(&own[row * width + cell(hash[k], width, inverse)], add[k]);
    }
    __syncthreads();
    for (int k = t; k < cells; k += 1024)
        if (own[k] != 0)
            atomicAdd(&sketch[k], own[k]);
}
__global__ void __launch_bounds__(64) few(unsigned *__restrict__ sketch, const unsigned *__restrict__ address,
                                          const unsigned short *__restrict__ size, int n, unsigned width,
                                          unsigned inverse)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n)
        return;
    unsigned hash = address[i], add = size[i];
#pragma unroll
    for (int row = 0; row < 4; row++)
        atomicAdd(&sketch[row * width + cell(hash, width, inverse)], add);
}
extern "C" void count_min(unsigned *sketch, const unsigned *address, const unsigned short *size, int n, int width,
                          cudaStream_t stream)
{
    int bytes = 16 * width, blocks = (n / 4 + 1023) / 1024;
    unsigned inverse = 0xffffffffu / (unsigned)width;
    if (n <= 32768) {
        few<<<(n + 63) / 64, 64, 0, stream>>>(sketch, address, size, n, width, inverse);
        return;
    }
    cudaFuncSetAttribute(note, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    note<<<blocks < 132 ? blocks : 132, 1024, bytes, stream>>>(sketch, (const uint4 *)address, (const ushort4 *)size,
                                                               n / 4, width, inverse);
}
