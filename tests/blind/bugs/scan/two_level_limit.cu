// class: a level is missing far in the domain ; wrong because: the sums of a row's tiles are scanned by one block of 1024, tiles behind the 1024th get a sum of nothing (smallest: rows=1, d = 2097153 with any non-zero in front)
#include <cstdint>

constexpr int T = 256, PER = 8, TILE = T * PER, MOST = 1024;

__device__ uint32_t block_scan(uint32_t v, uint32_t *warps, uint32_t &total)
{
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, n = blockDim.x / 32;
    for (int k = 1; k < 32; k *= 2) {
        uint32_t u = __shfl_up_sync(0xffffffffu, v, k);
        if (lane >= k)
            v += u;
    }
    if (lane == 31)
        warps[warp] = v;
    __syncthreads();
    uint32_t before = 0, all = 0;
    for (int w = 0; w < n; w++) {
        before += w < warp ? warps[w] : 0;
        all += warps[w];
    }
    total = all;
    return v + before;
}

__global__ void tile_sums(uint32_t *sums, const uint32_t *in, int d, int tiles)
{
    __shared__ uint32_t warps[32];
    int64_t row = (int64_t)blockIdx.y * d;
    int base = blockIdx.x * TILE;
    uint32_t v = 0, total;
    for (int k = 0; k < PER; k++) {
        int i = base + k * T + threadIdx.x;
        v += i < d ? in[row + i] : 0;
    }
    block_scan(v, warps, total);
    if (threadIdx.x == 0)
        sums[(int64_t)blockIdx.y * tiles + blockIdx.x] = total;
}

__global__ void scan_sums(uint32_t *sums, int tiles)
{
    __shared__ uint32_t warps[32];
    uint32_t *s = sums + (int64_t)blockIdx.x * tiles;
    uint32_t v = threadIdx.x < tiles ? s[threadIdx.x] : 0, total;
    uint32_t upto = block_scan(v, warps, total);
    if (threadIdx.x < tiles)
        s[threadIdx.x] = upto - v;
}

__global__ void scan_tiles(uint32_t *out, const uint32_t *in, const uint32_t *sums, int d, int tiles)
{
    __shared__ uint32_t warps[32];
    int64_t row = (int64_t)blockIdx.y * d;
    int base = blockIdx.x * TILE + threadIdx.x * PER;
    uint32_t v[PER], sum = 0, total;
    for (int k = 0; k < PER; k++) {
        sum += base + k < d ? in[row + base + k] : 0;
        v[k] = sum;
    }
    uint32_t before = block_scan(sum, warps, total) - sum + sums[(int64_t)blockIdx.y * tiles + blockIdx.x];
    for (int k = 0; k < PER; k++)
        if (base + k < d)
            out[row + base + k] = before + v[k];
}

extern "C" void scan(uint32_t *out, const uint32_t *in, int rows, int d, cudaStream_t stream)
{
    int tiles = (d + TILE - 1) / TILE;
    uint32_t *sums;
    if (cudaMallocAsync((void **)&sums, (size_t)rows * tiles * sizeof(uint32_t), stream) != cudaSuccess)
        return;
    tile_sums<<<dim3(tiles, rows), T, 0, stream>>>(sums, in, d, tiles);
    scan_sums<<<rows, MOST, 0, stream>>>(sums, tiles);
    scan_tiles<<<dim3(tiles, rows), T, 0, stream>>>(out, in, sums, d, tiles);
    cudaFreeAsync(sums, stream);
}
