// Two sums down a column, with a return for who has none.
// transform: split-loop 32032
// applies: line 16
// has: const bool inside = !(col >= d);
// has: for (int r = (int)threadIdx.y; inside && r < rows; r += 32)
// has: __shared__ float g_parts[32][32];
// has: if (rows >= 64) {
// has: sums_split<<<((d + 127) / 128) * 4, dim3(32, 32), 0, stream>>>(out, bias, in, rows, d);
#include <cuda_runtime.h>
__global__ void sums(float *out, float *bias, const float *in, int rows, int d)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= d)
        return;
    float g = 0.0f, b = 0.0f;
    for (int r = 0; r < rows; ++r) {
        float v = in[(size_t)r * d + col];
        g += v * v;
        b += v;
    }
    out[col] = g;
    bias[col] = b;
}

extern "C" void entry(float *out, float *bias, const float *in, int rows, int d, cudaStream_t stream)
{
    sums<<<(d + 127) / 128, 128, 0, stream>>>(out, bias, in, rows, d);
}
