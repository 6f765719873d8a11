// What is added up is stored on the way, as prefix sums are.
// transform: split-loop -1
// leaves
#include <cuda_runtime.h>
__global__ void work(float *out, const float *in, int rows, int d)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= d)
        return;
    float s = 0;
    for (int r = 0; r < rows; r++) {
        s += in[r * d + col];
        out[r * d + col] = s;
    }
    out[col] = s;
}

extern "C" void entry(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    work<<<(d + 127) / 128, 128, 0, stream>>>(out, in, rows, d);
}
