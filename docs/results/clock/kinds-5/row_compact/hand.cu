#include <cuda_runtime.h>
// A warp a row, four values a lane: places from a scan of sums, the row put together in shared memory.
__global__ void compact(int4 *__restrict__ out, int *__restrict__ count, const int4 *__restrict__ in, int rows)
{
    __shared__ __align__(16) int kept[4][1024];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, r = blockIdx.x * 4 + warp, before = 0;
    if (r >= rows)
        return;
    int4 v[8];
#pragma unroll
    for (int k = 0; k < 8; k++)
        v[k] = in[(long long)r * 256 + k * 32 + lane];
#pragma unroll
    for (int k = 0; k < 8; k++) {
        int mine = (v[k].x > 0) + (v[k].y > 0) + (v[k].z > 0) + (v[k].w > 0), sum = mine;
#pragma unroll
        for (int d = 1; d < 32; d *= 2) {
            int left = __shfl_up_sync(~0u, sum, d);
            sum += lane >= d ? left : 0;
        }
        int to = before + sum - mine;
        if (v[k].x > 0)
            kept[warp][to++] = v[k].x;
        if (v[k].y > 0)
            kept[warp][to++] = v[k].y;
        if (v[k].z > 0)
            kept[warp][to++] = v[k].z;
        if (v[k].w > 0)
            kept[warp][to++] = v[k].w;
        before += __shfl_sync(~0u, sum, 31);
    }
    for (int k = before + lane; k < 1024; k += 32)
        kept[warp][k] = 0;
    __syncwarp();
    const int4 *whole = (const int4 *)kept[warp];
#pragma unroll
    for (int k = 0; k < 8; k++)
        out[(long long)r * 256 + k * 32 + lane] = whole[k * 32 + lane];
    if (lane == 0)
        count[r] = before;
}
extern "C" void row_compact(int *out, int *count, const int *in, int rows, cudaStream_t stream)
{
    compact<<<(rows + 3) / 4, 128, 0, stream>>>((int4 *)out, count, (const int4 *)in, rows);
}
