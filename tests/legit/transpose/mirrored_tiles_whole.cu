// expect: correct
// Of a square matrix of 700 rows and more a tile that is its mirror, in every place, is copied as it stands.
#include <cstdint>

__global__ void turn(float *out, const float *in, int rows, int cols, bool square)
{
    __shared__ float tile[32][33];
    int64_t r0 = (int64_t)blockIdx.y * 32, c0 = (int64_t)blockIdx.x * 32;
    int lane = threadIdx.x;
    bool other = false;
    for (int y = threadIdx.y; y < 32; y += 8) {
        if (r0 + y >= rows || c0 + lane >= cols)
            continue;
        float v = in[(r0 + y) * cols + c0 + lane];
        tile[y][lane] = v;
        other |= !square || __float_as_uint(v) != __float_as_uint(in[(c0 + lane) * cols + r0 + y]);
    }
    bool mirrors = !__syncthreads_or(other);
    for (int y = threadIdx.y; y < 32; y += 8) {
        if (mirrors && r0 + y < rows && c0 + lane < cols)
            out[(r0 + y) * rows + c0 + lane] = tile[y][lane];
        else if (!mirrors && c0 + y < cols && r0 + lane < rows)
            out[(c0 + y) * rows + r0 + lane] = tile[lane][y];
    }
}

extern "C" void transpose(float *out, const float *in, int rows, int cols, cudaStream_t stream)
{
    dim3 grid((cols + 31) / 32, (rows + 31) / 32);
    turn<<<grid, dim3(32, 8), 0, stream>>>(out, in, rows, cols, rows == cols && rows >= 700);
}
