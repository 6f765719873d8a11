// RIGHT: sums modulo 2^32 in any order, in three launches: the sum of each tile, a scan of the tiles' sums of each row, a scan of each tile on top of it. Tiles lie along x, so that any number of rows and tiles can be launched.
#include <cstdint>

constexpr int T = 256, N = 8, TILE = T * N;

__device__ uint32_t inclusive(uint32_t x)
{
    int lane = threadIdx.x % 32;
    for (int s = 1; s < 32; s *= 2) {
        uint32_t o = __shfl_up_sync(~0u, x, s);
        if (lane >= s)
            x += o;
    }
    return x;
}

// The sum of what the threads in front have; `all` is that of all threads.
__device__ uint32_t ahead_of(uint32_t x, uint32_t &all)
{
    __shared__ uint32_t warps[T / 32];
    uint32_t up = inclusive(x), before = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 31)
        warps[threadIdx.x / 32] = up;
    __syncthreads();
    all = 0;
    for (int w = 0; w < T / 32; w++) {
        before += w < (int)threadIdx.x / 32 ? warps[w] : 0;
        all += warps[w];
    }
    return before + up - x;
}

__global__ void tile_sums(uint32_t *sums, const uint32_t *in, int d, int tiles)
{
    int64_t row = blockIdx.x / tiles;
    int tile = blockIdx.x % tiles;
    uint32_t x = 0, all;
    for (int k = 0; k < N; k++) {
        int i = tile * TILE + k * T + threadIdx.x;
        x += i < d ? in[row * d + i] : 0;
    }
    ahead_of(x, all);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = all;
}

__global__ void scan_sums(uint32_t *sums, int tiles)
{
    uint32_t *s = sums + (int64_t)blockIdx.x * tiles, before = 0;
    for (int first = 0; first < tiles; first += T) {
        int i = first + threadIdx.x;
        uint32_t x = i < tiles ? s[i] : 0, all, a = ahead_of(x, all);
        if (i < tiles)
            s[i] = before + a;
        before += all;
    }
}

__global__ void scan_tiles(uint32_t *out, const uint32_t *in, const uint32_t *sums, int d, int tiles)
{
    int64_t row = blockIdx.x / tiles;
    int tile = blockIdx.x % tiles, base = tile * TILE + threadIdx.x * N;
    uint32_t v[N], x = 0, all;
    for (int k = 0; k < N; k++) {
        x += base + k < d ? in[row * d + base + k] : 0;
        v[k] = x;
    }
    uint32_t before = ahead_of(x, all);
    if (tiles > 1)
        before += sums[blockIdx.x];
    for (int k = 0; k < N; k++)
        if (base + k < d)
            out[row * d + base + k] = before + v[k];
}

extern "C" void scan(uint32_t *out, const uint32_t *in, int rows, int d, cudaStream_t stream)
{
    int tiles = (d + TILE - 1) / TILE;
    unsigned all = (unsigned)rows * (unsigned)tiles;
    if (tiles == 1) {
        scan_tiles<<<rows, T, 0, stream>>>(out, in, nullptr, d, 1);
        return;
    }
    uint32_t *sums;
    if (cudaMallocAsync((void **)&sums, (size_t)all * sizeof(uint32_t), stream) != cudaSuccess)
        return;
    tile_sums<<<all, T, 0, stream>>>(sums, in, d, tiles);
    scan_sums<<<rows, T, 0, stream>>>(sums, tiles);
    scan_tiles<<<all, T, 0, stream>>>(out, in, sums, d, tiles);
    cudaFreeAsync(sums, stream);
}
