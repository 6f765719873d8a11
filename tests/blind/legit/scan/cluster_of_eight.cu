// right: a cluster of eight blocks a row, 8192 elements at a time; the blocks' totals are read from each other's shared memory, in two places in turn, so that one cluster barrier a step is enough.
#include <cooperative_groups.h>
#include <cstdint>

namespace cg = cooperative_groups;
constexpr int THREADS = 256, BLOCKS = 8, STEP = THREADS * 4;

template <bool WIDE>
__global__ void __cluster_dims__(BLOCKS, 1, 1) __launch_bounds__(THREADS) scan_kernel(uint32_t *__restrict__ out, const uint32_t *__restrict__ in, int d)
{
    __shared__ uint32_t total[2], warps[THREADS / 32], ahead[2];
    cg::cluster_group cluster = cg::this_cluster();
    const int rank = cluster.block_rank(), lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int64_t row = (int64_t)blockIdx.y * d;
    uint32_t carry = 0;
    for (int base = 0, p = 0; base < d; base += BLOCKS * STEP, p ^= 1) {
        const int at = base + rank * STEP + 4 * threadIdx.x;
        uint32_t v[4] = {0, 0, 0, 0};
        if (WIDE) {
            if (at < d) {
                uint4 q = *reinterpret_cast<const uint4 *>(in + row + at);
                v[0] = q.x, v[1] = q.y, v[2] = q.z, v[3] = q.w;
            }
        } else {
#pragma unroll
            for (int k = 0; k < 4; k++)
                if (at + k < d)
                    v[k] = in[row + at + k];
        }
        v[1] += v[0], v[2] += v[1], v[3] += v[2];
        uint32_t sum = v[3];
#pragma unroll
        for (int s = 1; s < 32; s <<= 1) {
            uint32_t left = __shfl_up_sync(~0u, sum, s);
            if (lane >= s)
                sum += left;
        }
        if (lane == 31)
            warps[warp] = sum;
        __syncthreads();
        uint32_t before = sum - v[3];
#pragma unroll
        for (int w = 0; w < THREADS / 32; w++)
            before += w < warp ? warps[w] : 0;
        if (threadIdx.x == THREADS - 1)
            total[p] = before + v[3];
        cluster.sync();
        if (warp == 0) {
            uint32_t x = lane < BLOCKS ? *cluster.map_shared_rank(&total[p], lane) : 0;
            uint32_t mine = __reduce_add_sync(~0u, lane < rank ? x : 0), all = __reduce_add_sync(~0u, x);
            if (lane == 0)
                ahead[0] = mine, ahead[1] = all;
        }
        __syncthreads();
        before += carry + ahead[0];
        carry += ahead[1];
        if (WIDE) {
            if (at < d)
                *reinterpret_cast<uint4 *>(out + row + at) = make_uint4(before + v[0], before + v[1], before + v[2], before + v[3]);
        } else {
#pragma unroll
            for (int k = 0; k < 4; k++)
                if (at + k < d)
                    out[row + at + k] = before + v[k];
        }
    }
    cluster.sync(); // nobody leaves while its total may be read
}

extern "C" void scan(uint32_t *out, const uint32_t *in, int rows, int d, cudaStream_t stream)
{
    dim3 grid(BLOCKS, rows);
    if (d % 4 == 0)
        scan_kernel<true><<<grid, THREADS, 0, stream>>>(out, in, d);
    else
        scan_kernel<false><<<grid, THREADS, 0, stream>>>(out, in, d);
}
