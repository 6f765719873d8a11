// expect: correct
// Pieces of a row in blocks of their own; each waits for the sum of the one before, in the order of a ticket.
#include <cstdint>

enum { PIECE = 1024 }; // four elements a thread

// Pieces of all rows take numbers in the order in which they begin, so that whoever waits waits for one that runs.
__global__ void scan_kernel(uint32_t *out, const uint32_t *in, int d, int pieces, unsigned *ticket, unsigned *flag, uint32_t *sum)
{
    __shared__ uint32_t warps[8], before;
    __shared__ unsigned number;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (threadIdx.x == 0)
        number = atomicAdd(ticket, 1u);
    __syncthreads();
    int row = number / pieces, piece = number % pieces;
    int64_t first = (int64_t)row * d;
    uint32_t x[4], own = 0;
    for (int k = 0; k < 4; k++) {
        int i = piece * PIECE + threadIdx.x * 4 + k;
        own += i < d ? in[first + i] : 0;
        x[k] = own;
    }
    uint32_t all = own;
    for (int step = 1; step < 32; step *= 2) {
        uint32_t left = __shfl_up_sync(0xffffffffu, all, step);
        if (lane >= step)
            all += left;
    }
    if (lane == 31)
        warps[warp] = all;
    __syncthreads();
    uint32_t left = all - own;
    for (int w = 0; w < warp; w++)
        left += warps[w];
    if (threadIdx.x == 255) {
        uint32_t mine = left + own, far = 0;
        if (piece > 0) {
            while (atomicAdd(&flag[number - 1], 0u) == 0)
                ;
            __threadfence();
            far = sum[number - 1];
        }
        sum[number] = far + mine;
            __threadfence();
        atomicExch(&flag[number], 1u);
        before = far;
    }
    __syncthreads();
    for (int k = 0; k < 4; k++) {
        int i = piece * PIECE + threadIdx.x * 4 + k;
        if (i < d)
            out[first + i] = before + left + x[k];
    }
}

extern "C" void scan(uint32_t *out, const uint32_t *in, int rows, int d, cudaStream_t stream)
{
    int pieces = (d + PIECE - 1) / PIECE;
    int64_t n = (int64_t)rows * pieces;
    unsigned *w;
    cudaMallocAsync((void **)&w, (2 * n + 1) * sizeof(unsigned), stream);
    cudaMemsetAsync(w, 0, (2 * n + 1) * sizeof(unsigned), stream);
    scan_kernel<<<n, 256, 0, stream>>>(out, in, d, pieces, w, w + 1, w + 1 + n);
    cudaFreeAsync(w, stream);
}
