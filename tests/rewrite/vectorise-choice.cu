// One of two inputs, by the row: each branch has indices of its own.
// transform: vectorise 16
// applies: line 12
// has: if (blockIdx.z < first) {
// has: const packed<float, 4> x_v = packed_load<4>(&x[from]);
// has: } else {
// has: const packed<float, 4> y_v = packed_load<4>(&y[from]);
// has: packed_store(&out[to], out_v);
#include <cuda_runtime.h>
__global__ void joined(float *out, const float *x, const float *y, int d, int first)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= d)
        return;
    int to = blockIdx.z * d + i;
    if (blockIdx.z < first) {
        int from = blockIdx.z * d + i;
        out[to] = x[from];
    } else {
        int from = (blockIdx.z - first) * d + i;
        out[to] = y[from];
    }
}

extern "C" void entry(float *out, const float *x, const float *y, int d, int rows, int first, cudaStream_t stream)
{
    joined<<<dim3((d + 255) / 256, 1, rows), 256, 0, stream>>>(out, x, y, d, first);
}
