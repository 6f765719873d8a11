#include <cuda_runtime.h>
// Eight lanes an edge, four values each; two edges a thread, so that both are asked for at once.
__global__ void largest(int *__restrict__ out, const int4 *__restrict__ x, const int *__restrict__ from, const int *__restrict__ to, int edges)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, f = i % 8, half = (edges + 1) / 2, a = i / 8, b = a + half;
    if (a >= half)
        return;
    int ta = to[a], tb = b < edges ? to[b] : -1;
    int4 va = x[(long long)from[a] * 8 + f], vb = tb >= 0 ? x[(long long)from[b] * 8 + f] : make_int4(0, 0, 0, 0);
    int *oa = out + (long long)ta * 32 + f * 4, *ob = out + (long long)tb * 32 + f * 4;
    atomicMax(oa, va.x);
    atomicMax(oa + 1, va.y);
    atomicMax(oa + 2, va.z);
    atomicMax(oa + 3, va.w);
    if (tb >= 0) {
        atomicMax(ob, vb.x);
        atomicMax(ob + 1, vb.y);
        atomicMax(ob + 2, vb.z);
        atomicMax(ob + 3, vb.w);
    }
}
extern "C" void edge_max(int *out, const int *x, const int *from, const int *to, int nodes, int edges, cudaStream_t stream)
{
    cudaMemsetAsync(out, 0, (size_t)nodes * 32 * sizeof(int), stream);
    largest<<<(unsigned)(((long long)(edges + 1) / 2 * 8 + 255) / 256), 256, 0, stream>>>(out, (const int4 *)x, from, to, edges);
}
