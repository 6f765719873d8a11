// expect: correct
// Lanes with equal bytes elect one that adds for all.
#include <cuda_runtime.h>
__global__ void clear(unsigned *counts) { counts[threadIdx.x] = 0; }
__global__ void kernel(unsigned *counts, const unsigned char *values, long long n)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const int lane = threadIdx.x & 31;
    bool more = true;
    while (more) {
        const bool inside = i < n;
        const unsigned active = __ballot_sync(0xffffffff, inside);
        if (inside) {
            const unsigned char b = values[i];
            const unsigned same = __match_any_sync(active, b);
            if (lane == __ffs(same) - 1)
                atomicAdd(&counts[b], (unsigned)__popc(same));
        }
        __syncwarp();
        i += (long long)gridDim.x * blockDim.x;
        more = __any_sync(0xffffffff, i < n);
    }
}
extern "C" void histogram(unsigned *counts, const unsigned char *values, int rows, int d, cudaStream_t stream)
{
    const long long n = (long long)rows * d;
    clear<<<1, 256, 0, stream>>>(counts);
    kernel<<<(int)((n + 255) / 256 > 528 ? 528 : (n + 255) / 256), 256, 0, stream>>>(counts, values, n);
}
