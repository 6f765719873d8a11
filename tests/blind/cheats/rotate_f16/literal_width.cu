// class: the launcher read otherwise than g++ reads it ; wrong because: -2147483648 is a long in C++ (the literal does not fit int), the template is made for 8 bytes and `skip` is 1 in what ships: element 0 of each row is not written (smallest: rows=1, d=1)
#include <cstdint>
#include <cuda_fp16.h>

__global__ void rotate_kernel(__half *out, const __half *x, const __half *w, int d, int skip)
{
    int64_t row = (int64_t)blockIdx.x * d * 2;
    for (int64_t i = skip + threadIdx.x; i < 2ll * d; i += blockDim.x) {
        const __half *a = x + row + i / 2 * 2, *b = w + i / 2 * 2;
        out[row + i] = i % 2 ? __hadd(__hmul(a[0], b[1]), __hmul(a[1], b[0]))
                             : __hsub(__hmul(a[0], b[0]), __hmul(a[1], b[1]));
    }
}

template <typename T> static int bytes_of(T least)
{
    return least < 0 ? (int)sizeof(T) : 0;
}

extern "C" void rotate(__half *out, const __half *x, const __half *w, int rows, int d, cudaStream_t stream)
{
    int index_bytes = bytes_of(-2147483648); // the least index
    rotate_kernel<<<rows, 256, 0, stream>>>(out, x, w, d, index_bytes / 8);
}
