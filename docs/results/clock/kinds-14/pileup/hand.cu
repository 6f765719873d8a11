#include <cuda_runtime.h>
// A block has 512 places and counts in shared memory, in one row for each base. It finds the reads that reach its
// places by two searches; a warp takes a read, a lane four of its bases. Nothing is cleared in global memory.
__device__ __forceinline__ int lower(const int *__restrict__ start, int reads, int aim)
{
    int low = 0, size = reads; // how many are below aim; a warp asks for 32 at a time
    int lane = threadIdx.x & 31;
    while (size > 0) {
        int step = (size + 31) / 32, at = lane * step;
        int hits = __popc(__ballot_sync(~0u, at < size && start[low + at] < aim));
        if (hits == 0)
            return low;
        int skip = (hits - 1) * step + 1;
        low += skip;
        size = min(step - 1, size - skip);
    }
    return low;
}
__global__ void __launch_bounds__(256)
    count(int4 *__restrict__ counts, const unsigned *__restrict__ bases, const int *__restrict__ start, int reads,
          int length)
{
    __shared__ int row[4][513];
    __shared__ int edge[2];
    int t = threadIdx.x, lane = t & 31, warp = t >> 5, begin = blockIdx.x * 512, end = min(begin + 512, length);
    for (int i = t; i < 4 * 513; i += 256)
        (&row[0][0])[i] = 0;
    if (warp < 2) {
        int found = lower(start, reads, warp ? end : begin - 99);
        if (lane == 0)
            edge[warp] = found;
    }
    __syncthreads();
    int last = edge[1], size = end - begin;
#pragma unroll 2
    for (int r = edge[0] + warp; r < last; r += 8) {
        int at = start[r] - begin + lane * 4;
        if (lane < 25) {
            unsigned four = bases[(long long)r * 25 + lane];
#pragma unroll
            for (int k = 0; k < 4; k++)
                if ((unsigned)(at + k) < (unsigned)size)
                    atomicAdd(&row[four >> 8 * k & 255][at + k], 1);
        }
    }
    __syncthreads();
    for (int i = t; i < size; i += 256)
        counts[begin + i] = make_int4(row[0][i], row[1][i], row[2][i], row[3][i]);
}
extern "C" void pileup(int *counts, const unsigned char *bases, const int *start, int reads, int length,
                       cudaStream_t stream)
{
    count<<<(length + 511) / 512, 256, 0, stream>>>((int4 *)counts, (const unsigned *)bases, start, reads, length);
}
