// A slice of something larger, a kernel for long rows alone, bytes that are fp8 numbers, work that devices share.
#include <cuda_fp16.h>
#include <cuda_fp8.h>

__global__ void slice_mask(float *out, const float *mask, int kept, int length)
{
    const float *row = mask + ((size_t)blockIdx.y * length + blockIdx.x) * length;
    for (int i = threadIdx.x; i < kept; i += blockDim.x)
        out[((size_t)blockIdx.y * kept + blockIdx.x) * kept + i] = row[i];
}

void launch_slice(float *out, const float *mask, int batch, int kept, int length, cudaStream_t stream)
{
    slice_mask<<<dim3(kept, batch), 64, 0, stream>>>(out, mask, kept, length);
}

__global__ void long_rows(float *out, const float *x, int width)
{
    for (int i = blockIdx.y * blockDim.x + threadIdx.x; i < width; i += gridDim.y * blockDim.x)
        out[(size_t)blockIdx.x * width + i] = 2 * x[(size_t)blockIdx.x * width + i];
}

__global__ void short_rows(float *out, const float *x, int width)
{
    if (threadIdx.x < width)
        out[blockIdx.x * width + threadIdx.x] = 2 * x[blockIdx.x * width + threadIdx.x];
}

void double_rows(float *out, const float *x, int rows, int width, cudaStream_t stream)
{
    if (width > 1024)
        long_rows<<<dim3(rows, 4), 256, 0, stream>>>(out, x, width);
    else
        short_rows<<<rows, 1024, 0, stream>>>(out, x, width);
}

using fp8 = __nv_fp8_e4m3;
__global__ void widen(__half2 *out, const fp8 *x, int cp_rank, int pairs)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < pairs)
        out[i] = __floats2half2_rn(float(x[2 * i]), float(x[2 * i + 1]) + cp_rank);
}

void launch_widen(__half2 *out, const fp8 *x, int cp_rank, int pairs, cudaStream_t stream)
{
    widen<<<(pairs + 127) / 128, 128, 0, stream>>>(out, x, cp_rank, pairs);
}
