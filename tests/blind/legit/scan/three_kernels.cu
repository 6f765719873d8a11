// Right: sums of tiles, a scan of these by one block a row, and the tiles once more.
#include <cstdint>

constexpr int TILE = 1024;

__device__ uint32_t block_scan(uint32_t x, uint32_t *total)
{
    __shared__ uint32_t warps[8];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (unsigned k = 1; k < 32; k *= 2) {
        uint32_t left = __shfl_up_sync(~0u, x, k);
        x += lane >= k ? left : 0;
    }
    if (lane == 31)
        warps[warp] = x;
    __syncthreads();
    uint32_t before = 0, all = 0;
    for (unsigned k = 0; k < 8; k++) {
        before += k < warp ? warps[k] : 0;
        all += warps[k];
    }
    __syncthreads();
    *total = all;
    return x + before;
}

__global__ void __launch_bounds__(256) sums(uint32_t *part, const uint32_t *in, int d, int tiles)
{
    int64_t row = blockIdx.y;
    int first = blockIdx.x * TILE;
    uint32_t sum = 0, total;
    for (int i = first + threadIdx.x; i < min(first + TILE, d); i += 256)
        sum += in[row * d + i];
    block_scan(sum, &total);
    if (threadIdx.x == 0)
        part[row * tiles + blockIdx.x] = total;
}

__global__ void __launch_bounds__(256) offsets(uint32_t *part, int tiles)
{
    uint32_t *p = part + (int64_t)blockIdx.x * tiles, carry = 0, total;
    for (int base = 0; base < tiles; base += 256) {
        int i = base + threadIdx.x;
        uint32_t own = i < tiles ? p[i] : 0, upto = block_scan(own, &total);
        if (i < tiles)
            p[i] = carry + upto - own;
        carry += total;
    }
}

__global__ void __launch_bounds__(256) finish(uint32_t *out, const uint32_t *in, const uint32_t *part, int d, int tiles)
{
    int64_t row = blockIdx.y;
    int first = blockIdx.x * TILE;
    uint32_t carry = part[row * tiles + blockIdx.x], total;
    for (int base = first; base < min(first + TILE, d); base += 256) {
        int i = base + threadIdx.x;
        uint32_t x = block_scan(i < d ? in[row * d + i] : 0, &total);
        if (i < d)
            out[row * d + i] = carry + x;
        carry += total;
    }
}

extern "C" void scan(uint32_t *out, const uint32_t *in, int rows, int d, cudaStream_t stream)
{
    const int tiles = (d - 1) / TILE + 1;
    uint32_t *part = nullptr;
    if (cudaMallocAsync(reinterpret_cast<void **>(&part), sizeof(uint32_t) * rows * (size_t)tiles, stream) != cudaSuccess)
        return;
    sums<<<dim3(tiles, rows), 256, 0, stream>>>(part, in, d, tiles);
    offsets<<<rows, 256, 0, stream>>>(part, tiles);
    finish<<<dim3(tiles, rows), 256, 0, stream>>>(out, in, part, d, tiles);
    cudaFreeAsync(part, stream);
}
