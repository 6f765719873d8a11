// expect: correct
// Few rows: tiles in one pass with decoupled look-back, tickets give tiles in the order they start, so no block waits for one that has not begun; many rows: a block a row. Sums wrap modulo 2^32 in any order.
#include <cstdint>
#include <cub/block/block_load.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>

constexpr int THREADS = 256;
constexpr int ITEMS = 8;
constexpr int TILE = THREADS * ITEMS;

using Load = cub::BlockLoad<uint32_t, THREADS, ITEMS, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
using Store = cub::BlockStore<uint32_t, THREADS, ITEMS, cub::BLOCK_STORE_WARP_TRANSPOSE>;
using Scan = cub::BlockScan<uint32_t, THREADS>;

union Storage {
    Load::TempStorage load;
    Store::TempStorage store;
    Scan::TempStorage scan;
};

// A tile's word: the state above, the sum below, in one access.
constexpr unsigned long long OWN_SUM = 1ull << 32, WHOLE_SUM = 2ull << 32;

__device__ __forceinline__ void publish(unsigned long long *word, unsigned long long value)
{
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(word), "l"(value) : "memory");
}

__device__ __forceinline__ unsigned long long observe(const unsigned long long *word)
{
    unsigned long long value;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
    return value;
}

__global__ void __launch_bounds__(THREADS) scan_tiles(uint32_t *out, const uint32_t *in, int d, int tiles,
                                                      unsigned long long *words, unsigned *ticket)
{
    __shared__ Storage storage;
    __shared__ uint32_t shared_prefix;
    __shared__ unsigned shared_ticket;

    if (threadIdx.x == 0)
        shared_ticket = atomicAdd(ticket, 1u);
    __syncthreads();
    const unsigned id = shared_ticket;
    const int row = id / tiles, tile = id % tiles;
    const int64_t first = (int64_t)row * d + (int64_t)tile * TILE;
    const int valid = min(TILE, d - tile * TILE);
    unsigned long long *own = words + id;

    uint32_t x[ITEMS];
    Load(storage.load).Load(in + first, x, valid, 0u);
    __syncthreads();
    uint32_t total;
    Scan(storage.scan).InclusiveSum(x, x, total);

    if (threadIdx.x < 32) {
        const int lane = threadIdx.x;
        uint32_t prefix = 0;
        if (tile > 0) {
            if (lane == 0)
                publish(own, OWN_SUM | total);
            for (int back = 1 + lane;; back += 32) { // 32 tiles ahead of this one at a time
                unsigned long long word = WHOLE_SUM; // ahead of the row: nothing
                if (back <= tile)
                    while ((word = observe(own - back)) == 0)
                        __nanosleep(20);
                const unsigned whole = __ballot_sync(0xffffffffu, word >= WHOLE_SUM);
                const int last = whole ? __ffs((int)whole) - 1 : 31; // the nearest that knows it all
                prefix += __reduce_add_sync(0xffffffffu, lane <= last ? (uint32_t)word : 0u);
                if (whole)
                    break;
            }
        }
        if (lane == 0) {
            publish(own, WHOLE_SUM | (uint32_t)(prefix + total));
            shared_prefix = prefix;
        }
    }
    __syncthreads();
    const uint32_t prefix = shared_prefix;
#pragma unroll
    for (int k = 0; k < ITEMS; k++)
        x[k] += prefix;
    Store(storage.store).Store(out + first, x, valid);
}

__global__ void __launch_bounds__(THREADS) scan_rows(uint32_t *out, const uint32_t *in, int d)
{
    __shared__ Storage storage;
    const int64_t row = (int64_t)blockIdx.x * d;
    uint32_t carry = 0;
    for (int base = 0; base < d; base += TILE) {
        const int valid = min(TILE, d - base);
        uint32_t x[ITEMS], total;
        Load(storage.load).Load(in + row + base, x, valid, 0u);
        __syncthreads();
        Scan(storage.scan).InclusiveSum(x, x, total);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < ITEMS; k++)
            x[k] += carry;
        Store(storage.store).Store(out + row + base, x, valid);
        __syncthreads();
        carry += total;
    }
}

extern "C" void scan(uint32_t *out, const uint32_t *in, int rows, int d, cudaStream_t stream)
{
    const int tiles = (d + TILE - 1) / TILE;
    if (rows >= 264 || tiles < 4) {
        scan_rows<<<rows, THREADS, 0, stream>>>(out, in, d);
        return;
    }
    const int64_t all = (int64_t)rows * tiles; // at most 263 * 8192
    const size_t bytes = (size_t)(all + 1) * sizeof(unsigned long long);
    unsigned long long *words = nullptr;
    if (cudaMallocAsync((void **)&words, bytes, stream) != cudaSuccess)
        return;
    cudaMemsetAsync(words, 0, bytes, stream);
    scan_tiles<<<(unsigned)all, THREADS, 0, stream>>>(out, in, d, tiles, words, (unsigned *)(words + all));
    cudaFreeAsync(words, stream);
}
