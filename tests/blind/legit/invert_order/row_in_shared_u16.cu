// right: a row's inverse is scattered into shared memory as 16-bit numbers (n <= 65536: 128 KB) and stored in order; blocks stay and walk over the rows.
#include <cstdint>

__global__ void __launch_bounds__(1024) invert_kernel(int *__restrict__ out, const int *__restrict__ order, int rows, int n)
{
    extern __shared__ uint16_t place[];
    for (int r = blockIdx.x; r < rows; r += gridDim.x) {
        const int *from = order + (size_t)r * n;
        int *to = out + (size_t)r * n;
#pragma unroll 4
        for (int i = threadIdx.x; i < n; i += 1024)
            place[from[i]] = (uint16_t)i;
        __syncthreads();
#pragma unroll 4
        for (int i = threadIdx.x; i < n; i += 1024)
            to[i] = place[i];
        __syncthreads();
    }
}

extern "C" void invert(int *out, const int *order, int rows, int n, cudaStream_t stream)
{
    int bytes = 2 * n;
    cudaFuncSetAttribute(invert_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536 * 2);
    invert_kernel<<<rows < 264 ? rows : 264, 1024, bytes, stream>>>(out, order, rows, n);
}
