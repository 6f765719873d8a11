// A function that launches one of several kernels.
#include <cuda_runtime.h>
#include <cstdint>

__global__ void fill_kernel(float *out, int n)
{
    if (threadIdx.x < n)
        out[threadIdx.x] = 0.0f;
}

__global__ void copy_small(const float *in, float *out, int width)
{
    if (threadIdx.x < width)
        out[blockIdx.x * width + threadIdx.x] = in[blockIdx.x * width + threadIdx.x];
}

__global__ void copy_wide(const float *in, float *out, int width)
{
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        out[blockIdx.x * width + i] = in[blockIdx.x * width + i];
}

void copy(const float *in, float *out, int rows, int width, bool clear, cudaStream_t stream)
{
    if (clear) {
        fill_kernel<<<1, 32, 0, stream>>>(out, 32);
    }
    if (width <= 16) {
        copy_small<<<rows, 32, 0, stream>>>(in, out, width);
    } else {
        switch (rows) {
        case 1:
            copy_small<<<1, 1024, 0, stream>>>(in, out, width);
            break;
        case 2:
        default:
            copy_wide<<<rows, 32, 0, stream>>>(in, out, width);
        }
    }
}

__global__ void add_offsets(uint4 *data, const unsigned *offsets)
{
    uint4 v = data[blockIdx.x * blockDim.x + threadIdx.x];
    unsigned add = offsets[blockIdx.x];

    data[blockIdx.x * blockDim.x + threadIdx.x] = make_uint4(v.x + add, v.y + add, v.z + add, v.w + add);
}

extern "C" int offsets(unsigned *d_data, unsigned *d_offsets, unsigned batch, unsigned length)
{
    fill_kernel<<<1, 32>>>((float *)d_offsets, 32);
    add_offsets<<<batch * length / 256, 64>>>((uint4 *)d_data, d_offsets);
    return 0;
}
