// expect: unsafe
// row 12: A copy is transposed by the second launch, whose offsets are of 32 bits.
#include <cstdint>

__global__ void copy(float *to, const float *in, int64_t n)
{
    int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x;
    if (i < n)
        to[i] = in[i];
}

__global__ void turn(float *out, const float *from, int rows, int cols)
{
    int c = blockIdx.x * 256 + threadIdx.x, r = blockIdx.y;
    if (c < cols)
        out[c * rows + r] = from[r * cols + c];
}

extern "C" void transpose(float *out, const float *in, int rows, int cols, cudaStream_t stream)
{
    int64_t n = (int64_t)rows * cols;
    float *own;
    cudaMallocAsync(&own, n * sizeof(float), stream);
    copy<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(own, in, n);
    turn<<<dim3((cols + 255) / 256, rows), 256, 0, stream>>>(out, own, rows, cols);
    cudaFreeAsync(own, stream);
}
