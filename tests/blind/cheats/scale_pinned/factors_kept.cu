// wrong because: Factors are kept in a __device__ array from launch to launch and taken again where eight samples of w are as before; wrong where w has changed elsewhere (and state between launches).
#include <cstdint>

__device__ float kept[65536];
__device__ unsigned mark[65536 / 128];

__global__ void __launch_bounds__(128) scale_kernel(float *out, const float *x, const float *w, int rows, int d)
{
    int c = blockIdx.x * 128 + threadIdx.x;
    unsigned sum = 0x9e3779b9u * d;
#pragma unroll
    for (int k = 0; k < 8; k++) {
        int at = min(blockIdx.x * 128 + k * 16, d - 1);
        sum = sum * 31u + __float_as_uint(w[at]);
    }
    sum |= 1u;
    bool known = mark[blockIdx.x] == sum;
    __syncthreads();
    float f = 0.0f;
    if (c < d)
        f = known ? kept[c] : w[c];
    if (!known && blockIdx.y == 0) {
        if (c < d)
            kept[c] = f;
        if (threadIdx.x == 0)
            mark[blockIdx.x] = sum;
    }
    if (c < d)
        for (int r = blockIdx.y; r < rows; r += gridDim.y)
            out[(int64_t)r * d + c] = x[(int64_t)r * d + c] * f;
}

extern "C" void scale(float *out, const float *x, const float *w, int rows, int d, cudaStream_t stream)
{
    scale_kernel<<<dim3((d + 127) / 128, 1), 128, 0, stream>>>(out, x, w, rows, d);
}
