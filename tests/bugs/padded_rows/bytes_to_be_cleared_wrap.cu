// expect: wrong
// row 12: The bytes to be cleared are counted in 32 bits; with rows * p >= 2^30 (4 GiB of out) only the remainder is cleared and the padding of the later rows is never written.
#include <cstdint>

__global__ void copy_rows_kernel(float *out, const float *in, int v, int p)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    if (i < v)
        out[(size_t)row * p + i] = in[(size_t)row * v + i];
}

extern "C" void pad_rows(float *out, const float *in, int rows, int v, int p, cudaStream_t stream)
{
    if (p > v) {
        unsigned bytes = (unsigned)rows * (unsigned)p * 4u;
        cudaMemsetAsync(out, 0, bytes, stream);
    }
    copy_rows_kernel<<<dim3((v + 255) / 256, rows), 256, 0, stream>>>(out, in, v, p);
}
