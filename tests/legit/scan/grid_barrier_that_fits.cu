// expect: correct
// A barrier of the whole grid, which is never larger than the device.
#include <cstdint>

// Phase one sums the rows, phase two adds what lies to the left; between them all blocks meet.
__global__ void scan_kernel(uint32_t *out, const uint32_t *in, int rows, int d, unsigned *arrived)
{
    __shared__ uint32_t s[256];
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        int64_t first = (int64_t)row * d;
        uint32_t carry = 0;
        for (int base = 0; base < d; base += 256) {
            int i = base + threadIdx.x;
            s[threadIdx.x] = i < d ? in[first + i] : 0;
            __syncthreads();
            for (int step = 1; step < 256; step *= 2) {
                uint32_t left = threadIdx.x >= step ? s[threadIdx.x - step] : 0;
                __syncthreads();
                s[threadIdx.x] += left;
                __syncthreads();
            }
            if (i < d)
                out[first + i] = s[threadIdx.x];
            carry += s[255];
            __syncthreads();
        }
    }
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(arrived, 1u);
        while (*(volatile unsigned *)arrived < gridDim.x)
            ;
        __threadfence();
    }
    __syncthreads();
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        int64_t first = (int64_t)row * d;
        uint32_t carry = 0;
        for (int base = 0; base < d; base += 256) {
            int i = base + threadIdx.x, last = base + 255 < d ? base + 255 : d - 1;
            uint32_t whole = out[first + last];
            __syncthreads();
            if (i < d)
                out[first + i] += carry;
            carry += whole;
            __syncthreads();
        }
    }
}

extern "C" void scan(uint32_t *out, const uint32_t *in, int rows, int d, cudaStream_t stream)
{
    unsigned *arrived;
    cudaMallocAsync((void **)&arrived, sizeof(unsigned), stream);
    cudaMemsetAsync(arrived, 0, sizeof(unsigned), stream);
    scan_kernel<<<rows < 132 ? rows : 132, 256, 0, stream>>>(out, in, rows, d, arrived);
    cudaFreeAsync(arrived, stream);
}
