// decoupled look-back: tiles by ticket, state and value in one 64-bit word by release and acquire, CUB's scan within a tile.
#include <cstdint>
#include <cub/block/block_scan.cuh>

constexpr int THREADS = 256, ITEMS = 16, TILE = THREADS * ITEMS;

__device__ __forceinline__ void publish(unsigned long long *p, unsigned state, unsigned value)
{
    unsigned long long w = ((unsigned long long)state << 32) | value;
    asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(p), "l"(w) : "memory");
}

__device__ __forceinline__ unsigned long long observe(const unsigned long long *p)
{
    unsigned long long w;
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(w) : "l"(p) : "memory");
    return w;
}

template <bool VEC> __global__ __launch_bounds__(THREADS) void scan_kernel(uint32_t *__restrict__ out, const uint32_t *__restrict__ in,
    int d, unsigned tiles, unsigned long long *states, unsigned *ticket)
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
            publish(states + id, 1, total);
            for (unsigned j = id - 1;; j--) {
                unsigned long long w;
                do
                    w = observe(states + j);
                while ((w >> 32) == 0);
                sum += (unsigned)w;
                if ((w >> 32) == 2)
                    break;
            }
        }
        publish(states + id, 2, sum + total);
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
    size_t bytes = ((size_t)blocks + 1) * sizeof(unsigned long long);
    unsigned long long *states;
    cudaMallocAsync((void **)&states, bytes, stream);
    cudaMemsetAsync(states, 0, bytes, stream);
    unsigned *ticket = reinterpret_cast<unsigned *>(states + blocks);
    if (d % 4 == 0)
        scan_kernel<true><<<blocks, THREADS, 0, stream>>>(out, in, d, tiles, states, ticket);
    else
        scan_kernel<false><<<blocks, THREADS, 0, stream>>>(out, in, d, tiles, states, ticket);
    cudaFreeAsync(states, stream);
}
