// expect: unsafe words by no acquire, and no fence follows
// row 15: The writer fences, but the reader takes the plain value right after it saw the volatile flag.
#include <cstdint>

constexpr int THREADS = 256, TILE = 1024;


__device__ __forceinline__ unsigned scan_block(unsigned own, unsigned *total)
{
    __shared__ unsigned sums[8];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned x = own;
    for (int o = 1; o < 32; o *= 2) {
        unsigned y = __shfl_up_sync(0xffffffffu, x, o);
        x += lane >= o ? y : 0;
    }
    if (lane == 31)
        sums[warp] = x;
    __syncthreads();
    unsigned before = 0, all = 0;
    for (int w = 0; w < 8; w++) {
        before += w < warp ? sums[w] : 0;
        all += sums[w];
    }
    *total = all;
    return before + x - own;
}

__global__ __launch_bounds__(THREADS) void scan_kernel(uint32_t *__restrict__ out, const uint32_t *__restrict__ in, int d,
                                                       unsigned tiles, unsigned *flag, unsigned *value, unsigned *ticket)
{
    __shared__ unsigned mine, before;
    if (threadIdx.x == 0)
        mine = atomicAdd(ticket, 1u);
    __syncthreads();
    unsigned id = mine, tile = id % tiles;
    size_t row = (size_t)(id / tiles) * d;
    int first = tile * TILE + threadIdx.x * 4;
    unsigned v[4], sum = 0, total;
    for (int e = 0; e < 4; e++) {
        v[e] = first + e < d ? in[row + first + e] : 0;
        sum += v[e];
    }
    unsigned ahead = scan_block(sum, &total);
    if (threadIdx.x == 0) {
        unsigned carry = 0;
        if (tile != 0) {
            volatile unsigned *f = flag;
            while (f[id - 1] == 0)
                ;
            carry = value[id - 1];
        }
        before = carry;
        value[id] = carry + total;
        __threadfence();
        ((volatile unsigned *)flag)[id] = 1;
    }
    __syncthreads();
    unsigned carry = before + ahead;
    for (int e = 0; e < 4; e++) {
        carry += v[e];
        if (first + e < d)
            out[row + first + e] = carry;
    }
}

extern "C" void scan(uint32_t *out, const uint32_t *in, int rows, int d, cudaStream_t stream)
{
    unsigned tiles = (unsigned)((d + TILE - 1) / TILE), blocks = tiles * (unsigned)rows;
    size_t bytes = (2 * (size_t)blocks + 1) * sizeof(unsigned);
    unsigned *space;
    cudaMallocAsync((void **)&space, bytes, stream);
    cudaMemsetAsync(space, 0, bytes, stream);
    scan_kernel<<<blocks, THREADS, 0, stream>>>(out, in, d, tiles, space, space + blocks, space + 2 * (size_t)blocks);
    cudaFreeAsync(space, stream);
}
