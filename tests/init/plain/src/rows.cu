// Rows that lie apart, widths that a launcher decides by, words of bits, rows without their padding, one number of
// each row.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void scale_rows_kernel(float *y, const float *x, int heads, int width, long y_stride_row, long y_stride_head,
                                  long stride_s, long stride_h)
{
    for (int h = threadIdx.y; h < heads; h += blockDim.y)
        for (int i = threadIdx.x; i < width; i += blockDim.x)
            y[blockIdx.x * y_stride_row + h * y_stride_head + i] =
                2.0f * x[blockIdx.x * stride_s + h * stride_h + i];
}

void scale_rows(float *y, const float *x, int rows, int heads, int width, long y_stride_row, long y_stride_head,
                long stride_s, long stride_h)
{
    scale_rows_kernel<<<rows, dim3(32, 4)>>>(y, x, heads, width, y_stride_row, y_stride_head, stride_s,
                                             stride_h);
}

template <int WIDTH> __global__ void negate_kernel(float *y, const float *x)
{
    y[blockIdx.x * WIDTH + threadIdx.x] = -x[blockIdx.x * WIDTH + threadIdx.x];
}

void negate(float *y, const float *x, int rows, int width)
{
    switch (width) {
    case 64:
        negate_kernel<64><<<rows, 64>>>(y, x);
        break;
    case 128:
        negate_kernel<128><<<rows, 128>>>(y, x);
        break;
    default:
        printf("no such width\n");
    }
}

__global__ void pack_kernel(unsigned *bits, const unsigned char *flags, int n)
{
    int word = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned all = 0;

    if (word * 32 >= n)
        return;
    for (int i = 0; i < 32 && word * 32 + i < n; i++)
        all |= (flags[word * 32 + i] ? 1u : 0u) << i;
    bits[word] = all;
}

void pack(unsigned *bits, const unsigned char *flags, int n)
{
    pack_kernel<<<(n + 8191) / 8192, 256>>>(bits, flags, n);
}

__global__ void unpad_kernel(float *y, const float *x, const int *offset, int width, int pitch)
{
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        y[blockIdx.x * width + i] = x[(blockIdx.x + offset[blockIdx.x]) * pitch + i];
}

void unpad(float *y, const float *x, const int *offset, int tokens, int width)
{
    unpad_kernel<<<tokens, 128>>>(y, x, offset, width, width);
}

__global__ void margin_kernel(float *y, const float *x, const int *which, int V, int P)
{
    for (int i = threadIdx.x; i < V; i += blockDim.x)
        y[blockIdx.x * P + i] = x[blockIdx.x * P + i] - x[blockIdx.x * P + which[blockIdx.x]];
}

void margin(float *y, const float *x, const int *which, int rows, int V, int P)
{
    margin_kernel<<<rows, 64>>>(y, x, which, V, P);
}
