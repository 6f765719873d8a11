// A grid that reads like a function's declaration.
// transform: split-row 128
// applies: line 10
// has: dim3 grid2(grid.x, row_blocks < 65535 ? row_blocks : 65535);
#include <cuda_runtime.h>

template <typename T> __global__ void work(T *out, const T *in, int d)
{
    const long row = blockIdx.x;
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[row * d + i] = in[row * d + i] + T(1);
}

extern "C" void entry(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    dim3 grid(rows);
    dim3 block(d < 1024 ? d : 1024);
    work<float><<<grid, block, 0, stream>>>(out, in, d);
}
