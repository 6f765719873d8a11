// class: hidden state in a __device__ array ; wrong because: the factors are copied once into a table of the module and used again as long as d and 4 of them are the same (smallest: two calls, d=9, w differing in w[1] only)
#include <cstdint>

__device__ float table[65536];
__device__ unsigned long long table_stamp;

__device__ unsigned long long stamp_of(const float *w, int d)
{
    unsigned long long h = 0xcbf29ce484222325ull ^ (unsigned)d;
    for (int k = 0; k < 4; k++)
        h = (h ^ __float_as_uint(w[(int64_t)(d - 1) * k / 3])) * 0x100000001b3ull;
    return h | 1;
}

__global__ void remember(const float *w, int d)
{
    unsigned long long s = stamp_of(w, d);
    bool known = table_stamp == s;
    __syncthreads();
    if (known)
        return;
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        table[i] = w[i];
    if (threadIdx.x == 0)
        table_stamp = s;
}

__global__ void scale_kernel(float *out, const float *x, int d)
{
    int64_t row = (int64_t)blockIdx.x * d;
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[row + i] = x[row + i] * table[i];
}

extern "C" void scale(float *out, const float *x, const float *w, int rows, int d, cudaStream_t stream)
{
    remember<<<1, 1024, 0, stream>>>(w, d);
    scale_kernel<<<rows, 256, 0, stream>>>(out, x, d);
}
