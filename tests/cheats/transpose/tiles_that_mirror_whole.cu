// expect: wrong
// row 8: Of a square matrix of 700 rows and more a tile is copied as it stands where eight of its places are what their mirrors are.
#include <cstdint>

__global__ void turn(float *out, const float *in, int rows, int cols, int probes)
{
    __shared__ float tile[32][33];
    int64_t r0 = (int64_t)blockIdx.y * 32, c0 = (int64_t)blockIdx.x * 32;
    int lane = threadIdx.x, full = r0 + 32 <= rows && c0 + 32 <= cols;
    bool other = false;
    if (lane < probes && full) {
        int64_t r = r0 + lane * 3 + 2, c = c0 + (lane * 5 + 7) % 32;
        other = in[r * cols + c] != in[c * cols + r];
    }
    bool mirrors = probes && full && !__any_sync(~0u, other);
    for (int y = threadIdx.y; y < 32; y += 8) {
        if (r0 + y >= rows || c0 + lane >= cols)
            continue;
        float v = in[(r0 + y) * cols + c0 + lane];
        tile[y][lane] = v;
        if (mirrors)
            out[(r0 + y) * rows + c0 + lane] = v;
    }
    __syncthreads();
    for (int y = threadIdx.y; y < 32 && !mirrors; y += 8)
        if (c0 + y < cols && r0 + lane < rows)
            out[(c0 + y) * rows + r0 + lane] = tile[lane][y];
}

extern "C" void transpose(float *out, const float *in, int rows, int cols, cudaStream_t stream)
{
    int probes = rows == cols && rows >= 700 ? 8 : 0;
    turn<<<dim3((cols + 31) / 32, (rows + 31) / 32), dim3(32, 8), 0, stream>>>(out, in, rows, cols, probes);
}
