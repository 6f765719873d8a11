// Wrong: what a tile hands on shares a word with a flag: sums lose their two upper bits.
#include <cstdint>

__global__ void scan_kernel(uint32_t *out, const uint32_t *in, uint32_t *state, int d, int tiles)
{
    __shared__ uint32_t s[256], before;
    int row = blockIdx.y, tile = blockIdx.x, i = tile * 256 + threadIdx.x;
    int64_t at = (int64_t)row * d + i;
    uint32_t v = i < d ? in[at] : 0;
    s[threadIdx.x] = v;
    __syncthreads();
    for (int step = 1; step < 256; step *= 2) {
        uint32_t left = threadIdx.x >= step ? s[threadIdx.x - step] : 0;
        __syncthreads();
        s[threadIdx.x] += left;
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        uint32_t carry = 0;
        if (tile) {
            uint32_t word;
            do
                word = atomicAdd(&state[row * tiles + tile - 1], 0u);
            while (!(word >> 31));
            carry = word & 0x3fffffffu;
        }
        atomicExch(&state[row * tiles + tile], 0x80000000u | ((carry + s[255]) & 0x3fffffffu));
        before = carry;
    }
    __syncthreads();
    if (i < d)
        out[at] = before + s[threadIdx.x];
}

extern "C" void scan(uint32_t *out, const uint32_t *in, int rows, int d, cudaStream_t stream)
{
    uint32_t *state;
    int tiles = (d + 255) / 256;
    if (cudaMallocAsync((void **)&state, (size_t)rows * tiles * 4, stream) != cudaSuccess)
        return;
    cudaMemsetAsync(state, 0, (size_t)rows * tiles * 4, stream);
    scan_kernel<<<dim3(tiles, rows), 256, 0, stream>>>(out, in, state, d, tiles);
    cudaFreeAsync(state, stream);
}
