// expect: wrong
// row 8: A slot whose first and last 8 elements are already those of the new row is not written; with d > 16 a row that differs from what the cache holds only between them (say both zero at the ends) is lost.
#include <cuda_fp16.h>
#include <cstdint>

__global__ void slot_scatter_kernel(unsigned short *cache, const unsigned short *rows, const int64_t *slot, int d)
{
    unsigned short *to = cache + slot[blockIdx.x] * d;
    const unsigned short *from = rows + (int64_t)blockIdx.x * d;

    // A prefix that is served again finds its rows in place: nothing is to be written then.
    bool same = true;
    if (threadIdx.x < 16) {
        int i = threadIdx.x < 8 ? min((int)threadIdx.x, d - 1) : max(d - 16 + (int)threadIdx.x, 0);
        same = to[i] == from[i];
    }
    if (__syncthreads_and(same))
        return;

    for (int i = threadIdx.x; i < d; i += blockDim.x)
        to[i] = from[i];
}

extern "C" void slot_scatter(__half *cache, const __half *rows, const int64_t *slot, int tokens, int d,
                             cudaStream_t stream)
{
    slot_scatter_kernel<<<tokens, 128, 0, stream>>>((unsigned short *)cache, (const unsigned short *)rows, slot, d);
}
