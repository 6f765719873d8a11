#include <cuda_runtime.h>
// For each node the largest of its neighbours' 32 values, edges in no order; a thread a value of an edge.
__global__ void largest(int *out, const int *x, const int *from, const int *to, int edges)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (long long)edges * 32)
        return;
    int e = i / 32, f = i % 32;
    atomicMax(&out[(long long)to[e] * 32 + f], x[(long long)from[e] * 32 + f]);
}
extern "C" void edge_max(int *out, const int *x, const int *from, const int *to, int nodes, int edges, cudaStream_t stream)
{
    cudaMemsetAsync(out, 0, (size_t)nodes * 32 * sizeof(int), stream);
    largest<<<(unsigned)(((long long)edges * 32 + 255) / 256), 256, 0, stream>>>(out, x, from, to, edges);
}
