// expect: unsafe words no fence orders the write before what told of it
// row 15: As decoupled look-back, with fences, but the second state sets the flag before the value that it announces.
#include <cstdint>
#include <cub/block/block_scan.cuh>

constexpr int THREADS = 256, ITEMS = 16, TILE = THREADS * ITEMS;

// sums[0] of a tile: its own, sums[1]: with all before; flag 1 and 2 say which are there
struct States { volatile unsigned *flag, *own, *whole; };

template <bool VEC> __global__ __launch_bounds__(THREADS) void scan_kernel(uint32_t *__restrict__ out, const uint32_t *__restrict__ in,
    int d, unsigned tiles, States states, unsigned *ticket)
{
    using Scan = cub::BlockScan<uint32_t, THREADS>;
    __shared__ typename Scan::TempStorage storage;
    __shared__ unsigned mine, before;
    if (threadIdx.x == 0)
        mine = atomicAdd(ticket, 1u);
    __syncthreads();
    unsigned id = mine, tile = id % tiles;
    int first = (int)tile * TILE + threadIdx.x * ITEMS;
    size_t row = (size_t)(id / tiles) * d;
    uint32_t v[ITEMS], total;
#pragma unroll
    for (int e = 0; e < ITEMS; e += 4) {
        if (VEC && first + e < d) {
            uint4 a = *reinterpret_cast<const uint4 *>(in + row + first + e);
            v[e] = a.x, v[e + 1] = a.y, v[e + 2] = a.z, v[e + 3] = a.w;
        } else {
            for (int j = e; j < e + 4; j++)
                v[j] = !VEC && first + j < d ? in[row + first + j] : 0u;
        }
    }
    Scan(storage).InclusiveSum(v, v, total);
    if (threadIdx.x == 0) {
        unsigned sum = 0;
        if (tile != 0) {
            states.own[id] = total;
            __threadfence();
            states.flag[id] = 1;
            for (unsigned j = id - 1;; j--) {
                unsigned flag;
                do
                    flag = states.flag[j];
                while (flag == 0);
                sum += flag == 2 ? states.whole[j] : states.own[j];
                if (flag == 2)
                    break;
            }
        }
        states.flag[id] = 2;
        __threadfence();
        states.whole[id] = sum + total;
        before = sum;
    }
    __syncthreads();
    uint32_t carry = before;
#pragma unroll
    for (int e = 0; e < ITEMS; e += 4) {
        if (VEC) {
            if (first + e < d)
                *reinterpret_cast<uint4 *>(out + row + first + e) =
                    make_uint4(v[e] + carry, v[e + 1] + carry, v[e + 2] + carry, v[e + 3] + carry);
        } else {
            for (int j = e; j < e + 4; j++)
                if (first + j < d)
                    out[row + first + j] = v[j] + carry;
        }
    }
}

extern "C" void scan(uint32_t *out, const uint32_t *in, int rows, int d, cudaStream_t stream)
{
    unsigned tiles = (unsigned)((d + TILE - 1) / TILE), blocks = tiles * (unsigned)rows;
    size_t bytes = (3 * (size_t)blocks + 1) * sizeof(unsigned);
    unsigned *space;
    cudaMallocAsync((void **)&space, bytes, stream);
    cudaMemsetAsync(space, 0, bytes, stream);
    States states;
    states.flag = space + 1;
    states.own = space + 1 + (size_t)blocks;
    states.whole = space + 1 + 2 * (size_t)blocks;
    if (d % 4 == 0)
        scan_kernel<true><<<blocks, THREADS, 0, stream>>>(out, in, d, tiles, states, space);
    else
        scan_kernel<false><<<blocks, THREADS, 0, stream>>>(out, in, d, tiles, states, space);
    cudaFreeAsync(space, stream);
}
