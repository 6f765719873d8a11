// class: round 14 ; wrong because: persistent blocks: where a tile goes is read of shared memory at its end, and no barrier keeps thread 0 from drawing the next ticket meanwhile.
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
    __syncthreads();
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

// a word of a tile: 1 << 32 and its own sum, or 2 << 32 and the sum of all up to it
__global__ __launch_bounds__(THREADS) void scan_kernel(uint32_t *__restrict__ out, const uint32_t *__restrict__ in, int d,
                                                       unsigned tiles, unsigned all, volatile unsigned long long *words,
                                                       unsigned *ticket)
{
    __shared__ unsigned mine, before;
    for (;;) {
        if (threadIdx.x == 0)
            mine = atomicAdd(ticket, 1u);
        __syncthreads();
        unsigned id = mine, tile = id % tiles;
        if (id >= all)
            break;
        size_t row = (size_t)(id / tiles) * d;
        int first = tile * TILE + threadIdx.x * 4;
        unsigned v[4], sum = 0, total;
        for (int e = 0; e < 4; e++) {
            v[e] = first + e < d ? in[row + first + e] : 0;
            sum += v[e];
        }
        unsigned ahead = scan_block(sum, &total);
        if (threadIdx.x == 0 && tile != 0)
            words[id] = 1ull << 32 | total;
        if (threadIdx.x < 32) {
            unsigned carry = 0;
            int at = (int)tile - 1 - (int)threadIdx.x, base = (int)(id - tile);
            for (bool more = tile != 0; more; at -= 32) {
                unsigned long long w = 2ull << 32;
                if (at >= 0)
                    while (((w = words[base + at]) >> 32) == 0)
                        ;
                unsigned done = __ballot_sync(0xffffffffu, w >> 32 == 2), stop = done ? __ffs(done) - 1 : 31;
                unsigned x = threadIdx.x <= stop ? (unsigned)w : 0;
                for (int o = 16; o; o /= 2)
                    x += __shfl_xor_sync(0xffffffffu, x, o);
                carry += x;
                more = !done;
            }
            if (threadIdx.x == 0) {
                words[id] = 2ull << 32 | (unsigned)(carry + total);
                before = carry;
            }
        }
        __syncthreads();
        unsigned carry = before + ahead;
        for (int e = 0; e < 4; e++) {
            carry += v[e];
            if (first + e < d)
                out[(size_t)(mine / tiles) * d + first + e] = carry;
        }
    }
}

extern "C" void scan(uint32_t *out, const uint32_t *in, int rows, int d, cudaStream_t stream)
{
    unsigned tiles = (unsigned)((d + TILE - 1) / TILE), all = tiles * (unsigned)rows;
    size_t bytes = ((size_t)all + 1) * sizeof(unsigned long long);
    unsigned long long *space;
    cudaMallocAsync((void **)&space, bytes, stream);
    cudaMemsetAsync(space, 0, bytes, stream);
    scan_kernel<<<all < 264 ? all : 264, THREADS, 0, stream>>>(out, in, d, tiles, all, space, (unsigned *)(space + all));
    cudaFreeAsync(space, stream);
}
