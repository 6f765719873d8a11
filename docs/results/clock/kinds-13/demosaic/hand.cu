#include <cuda_runtime.h>
// Four by two pixels a thread, so that no branch is left: four rows of six sites in registers, by one vector and two
// single reads each, and two rows of twelve numbers, which a
// warp gathers in shared memory to write them side by side.
__device__ __forceinline__ unsigned pack(int low, int high)
{
    return (unsigned)low | (unsigned)high << 16;
}
__global__ void __launch_bounds__(128)
    develop(uint2 *__restrict__ out, const unsigned short *__restrict__ raw, int h, int w)
{
    int x = (blockIdx.x * 32 + threadIdx.x) * 4, y = (blockIdx.y * 4 + threadIdx.y) * 2;
    __shared__ uint2 row[4][2][96];
    if (y >= h)
        return;
    int start = x - 4 * threadIdx.x;
    x = min(x, w - 4);
    int v[4][6], left = x == 0 ? 1 : x - 1, right = x + 4 == w ? w - 2 : x + 4;
#pragma unroll
    for (int r = 0; r < 4; r++) {
        int line = y - 1 + r;
        line = line < 0 ? 1 : line >= h ? h - 2 : line;
        const unsigned short *from = raw + (long long)line * w;
        ushort4 four = *(const ushort4 *)(from + x);
        v[r][0] = from[left];
        v[r][1] = four.x;
        v[r][2] = four.y;
        v[r][3] = four.z;
        v[r][4] = four.w;
        v[r][5] = from[right];
    }
    int c[2][12];
#pragma unroll
    for (int k = 0; k < 4; k++) {
        int up = v[0][k + 1], own = v[1][k + 1], under = v[2][k + 1], last = v[3][k + 1];
        int beside = v[1][k] + v[1][k + 2], below = v[2][k] + v[2][k + 2];
        if (k % 2 == 0) {
            c[0][3 * k] = own;
            c[0][3 * k + 1] = (beside + up + under + 2) >> 2;
            c[0][3 * k + 2] = (v[0][k] + v[0][k + 2] + below + 2) >> 2;
            c[1][3 * k] = (own + last + 1) >> 1;
            c[1][3 * k + 1] = under;
            c[1][3 * k + 2] = (below + 1) >> 1;
        } else {
            c[0][3 * k] = (beside + 1) >> 1;
            c[0][3 * k + 1] = own;
            c[0][3 * k + 2] = (up + under + 1) >> 1;
            c[1][3 * k] = (beside + v[3][k] + v[3][k + 2] + 2) >> 2;
            c[1][3 * k + 1] = (below + own + last + 2) >> 2;
            c[1][3 * k + 2] = under;
        }
    }
    int lane = threadIdx.x, some = min(96, (w - start) * 3 / 4);
#pragma unroll
    for (int r = 0; r < 2; r++)
#pragma unroll
        for (int k = 0; k < 3; k++)
            row[threadIdx.y][r][3 * lane + k] =
                make_uint2(pack(c[r][4 * k], c[r][4 * k + 1]), pack(c[r][4 * k + 2], c[r][4 * k + 3]));
    __syncwarp();
#pragma unroll
    for (int r = 0; r < 2; r++) {
        uint2 *to = out + ((long long)(y + r) * w + start) * 3 / 4;
#pragma unroll
        for (int k = lane; k < 96; k += 32)
            if (k < some)
                to[k] = row[threadIdx.y][r][k];
    }
}
extern "C" void demosaic(unsigned short *out, const unsigned short *raw, int h, int w, cudaStream_t stream)
{
    dim3 grid((w / 4 + 31) / 32, (h / 2 + 3) / 4), block(32, 4);
    develop<<<grid, block, 0, stream>>>((uint2 *)out, raw, h, w);
}
