#include <cuda_runtime.h>
// A warp has 32 cells of two rows and goes up eight layers: three samples a layer and thread, of which the bits of the
// neighbour to the right come by a vote; the bits of a layer are those of the next one's floor.
__device__ __forceinline__ unsigned vote(const float *__restrict__ row, int x, int nx, float level)
{
    int lane = threadIdx.x;
    bool above = x < nx && row[x] > level;
    bool last = lane == 31 && x + 1 < nx && row[x + 1] > level;
    unsigned all = __ballot_sync(~0u, above);
    return lane == 31 ? (unsigned)above | (unsigned)last << 1 : all >> lane & 3;
}
__global__ void __launch_bounds__(128)
    classify(unsigned char *__restrict__ cases, const float *__restrict__ field, float level, int nz, int ny, int nx)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = (blockIdx.y * 4 + threadIdx.y) * 2, z0 = blockIdx.z * 8;
    if (y >= ny - 1)
        return;
    bool two = y + 2 < ny;
    const float *at = field + ((long long)z0 * ny + y) * nx;
    long long layer = (long long)ny * nx;
    unsigned char *to = cases + ((long long)z0 * (ny - 1) + y) * (nx - 1) + x;
    unsigned low0 = 0, low1 = 0;
#pragma unroll
    for (int k = 0; k <= 8; k++) {
        if (z0 + k >= nz)
            break;
        const float *row = at + k * layer;
        unsigned a = vote(row, x, nx, level), b = vote(row + nx, x, nx, level);
        unsigned c = two ? vote(row + 2 * (long long)nx, x, nx, level) : 0u;
        unsigned high0 = a | b << 2, high1 = b | c << 2;
        if (k && x < nx - 1) {
            unsigned char *out = to + (long long)(k - 1) * (ny - 1) * (nx - 1);
            out[0] = low0 | high0 << 4;
            if (two)
                out[nx - 1] = low1 | high1 << 4;
        }
        low0 = high0;
        low1 = high1;
    }
}
extern "C" void cube_class(unsigned char *cases, const float *field, float level, int nz, int ny, int nx,
                           cudaStream_t stream)
{
    dim3 grid((nx + 30) / 32, (ny + 6) / 8, (nz + 6) / 8);
    classify<<<grid, dim3(32, 4), 0, stream>>>(cases, field, level, nz, ny, nx);
}
