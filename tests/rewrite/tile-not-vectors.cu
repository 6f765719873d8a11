// Each element of a vector would have another factor, so there are no vectors; and rows are not whole vectors.
// transform: tile 416
// leaves
// fact: d divisor 2
#include <cuda_runtime.h>

__global__ void scaled(float *to, const float *from, int height, int width)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < height && c < width)
        to[c * height + r] = from[r * width + c] * c;
}

__global__ void odd(float *to, const float *from, int height, int width)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < height && c < width)
        to[c * height + r] = from[r * width + c];
}

extern "C" void entry(float *out, const float *in, int m, int d, cudaStream_t stream)
{
    dim3 block(32, 8);
    scaled<<<dim3((m + 31) / 32, (m + 7) / 8), block, 0, stream>>>(out, in, m, m);
    odd<<<dim3((d + 31) / 32, (m + 7) / 8), block, 0, stream>>>(out, in, m, d);
}
