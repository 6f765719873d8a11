// Dynamic shared memory: each row has its own; the launcher says how many rows there are.
// transform: warp-rows 3204
// fact: d low 512 high 768
// applies: line 17
// has: extern __shared__ float values_of_rows[];
// has: reinterpret_cast<char *>(values_of_rows) + threadIdx.x / 32 * row_bytes);
// has: (last - r) * d + i];
// has: unsigned int row_bytes)
// has: const unsigned int row = (blockIdx.x * 128 + threadIdx.x) / 32;
// has: if (d <= 1024) {
// has: ((2 * n + 1) + 3) / 4, 128, ((d * sizeof(float)) + 15) / 16 * 16 * 4
#include <cuda_runtime.h>
template <typename T> __global__ void work(T *out, const T *in, int d)
{
    extern __shared__ float values[];
    const int r = blockIdx.x, last = gridDim.x - 1;
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        values[i] = in[(last - r) * d + i];
    __syncthreads();
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[r * d + i] = values[d - 1 - i];
}
extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<float><<<2 * n + 1, 256, d * sizeof(float), stream>>>(out, in, d);
}
