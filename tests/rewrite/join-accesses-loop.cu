// A counted loop over a thread's neighbours, in a device function too; the threads' own array is no memory.
// transform: join-accesses 0
// applies: line 15
// has: const auto row_near = near_load<4>(&row[first]);
// has: kept[k] = (float)row_near.at[k];
// has: packed<T, ITEMS> out_near;
// has: near_store(&out[i], out_near);
// has: sum += part[k];
#include <cuda_fp16.h>

template <typename T> __device__ float total(const T *row, int first, float *part)
{
    float kept[4], sum = 0.0f;
#pragma unroll
    for (int k = 0; k < 4; ++k)
        kept[k] = (float)row[first + k];
    for (int k = 0; k < 4; k++) {
        part[k] = kept[k];
        sum += part[k];
    }
    return sum;
}

template <typename T, int ITEMS> __global__ void normalise(T *out, const T *in, int n)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * ITEMS;
    float part[ITEMS];
    if (i + ITEMS > n)
        return;
    float scale = 1.0f / total(in, i, part);
    for (int k = 0; k < ITEMS; k++)
        out[i + k] = (T)(part[k] * scale);
}

extern "C" void entry(__half *out, const __half *in, int n, cudaStream_t stream)
{
    normalise<__half, 4><<<(n + 1023) / 1024, 256, 0, stream>>>(out, in, n);
}
