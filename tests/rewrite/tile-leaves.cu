// Writes along x and reads along y; threads beyond the bounds leave; two reads of other kinds come along.
// transform: tile 16
// applies: line 20
// has: const int col = blockIdx.y * 32 + threadIdx.x;
// has: if (!(row >= n || col >= d))
// has: in[col * n + row] * scale[col] + bias[0];
// has: work<<<dim3((n + 31) / 32, (d + 31) / 32), dim3(32, 16), 0, stream>>>
// lacks: constexpr
#include <cstdint>

constexpr int TILE = 16;

__global__ void work(float *out, const float *in, const float *scale, const float *bias, int n, int d)
{
    const int row = blockIdx.x * TILE + threadIdx.x;
    const int col = blockIdx.y * TILE + threadIdx.y;
    if (row >= n || col >= d) {
        return;
    }
    out[col + row * d] = in[col * n + row] * scale[col] + bias[0];
}

extern "C" void entry(float *out, const float *in, const float *scale, const float *bias, int n, int d,
                      cudaStream_t stream)
{
    work<<<dim3((n + TILE - 1) / TILE, (d + TILE - 1) / TILE), dim3(TILE, TILE), 0, stream>>>(out, in, scale,
                                                                                             bias, n, d);
}
