#include <cuda_runtime.h>
// Rows of messages added, scaled, to the rows of nodes that an index names; a thread an element.
__global__ void add(float *out, const float *src, const int *index, float scale, int n, int d)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (long long)n * d)
        return;
    int row = (int)(i / d), col = (int)(i % d);
    atomicAdd(&out[(long long)index[row] * d + col], scale * src[i]);
}
extern "C" void index_add(float *out, const float *src, const int *index, float scale, int n, int d,
                          cudaStream_t stream)
{
    add<<<(int)(((long long)n * d + 255) / 256), 256, 0, stream>>>(out, src, index, scale, n, d);
}
