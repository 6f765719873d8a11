// Warps with a row of weights each read the same input: neighbours along y in step read it once. An array that is
// written under another type is another one for each block.
// transform: coarsen-blocks 104
// applies: line 21
// has: __global__ void rows_by4y(
// has: int row[4];
// has: row[k] = (blockIdx.y * 4 + k) * blockDim.y + threadIdx.y;
// has: unsigned codes[4][4];
// has: *(uint4 *)codes[k] = *(const uint4 *)(weights + row[k] * (d / 8) + i);
// has: float x = in[(size_t)blockIdx.z * d / 8 + i];
// has: warp_sum_by4y(sum, sum);
// has: if (grid.y % 4 == 0 && grid.y * grid.x * grid.z >= 528) {
// has: rows_by4y<<<dim3(grid.x, grid.y / 4, grid.z), block, 0, stream>>>(out, in, weights, n, d);
#include <cuda_runtime.h>
__device__ float warp_sum(float v)
{
    for (int o = 16; o > 0; o /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, o);
    return v;
}
__global__ void rows(float *out, const float *in, const unsigned *weights, int n, int d)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0.0f;
    for (int i = threadIdx.x * 4; i < d / 8; i += 128) {
        unsigned codes[4];
        float x = in[(size_t)blockIdx.z * d / 8 + i];
        *(uint4 *)codes = *(const uint4 *)(weights + row * (d / 8) + i);
        for (int c = 0; c < 4; c++)
            sum += (codes[c] & 15) * x + (codes[c] >> 4) * x;
    }
    sum = warp_sum(sum);
    if (threadIdx.x == 0)
        out[blockIdx.z * n + row] = sum;
}
extern "C" void entry(float *out, const float *in, const unsigned *weights, int n, int d, int m, cudaStream_t stream)
{
    dim3 grid(1, n / 4, m);
    dim3 block(32, 4);
    rows<<<grid, block, 0, stream>>>(out, in, weights, n, d);
}
