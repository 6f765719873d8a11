// Few columns: the blocks of a cluster share the loop, and the first of them puts the parts together.
// transform: split-loop 8032032
// applies: line 20
// has: #include <cooperative_groups.h>
// has: __global__ void __cluster_dims__(1, 8, 1) largest_split(
// has: for (int r = (int)(blockIdx.y * 32 + threadIdx.y); inside && r < rows; r += 256)
// has: most = fmaxf(most, cooperative_groups::this_cluster().map_shared_rank(most_parts[0], other)[threadIdx.x]);
// has: if (threadIdx.y + blockIdx.y > 0 || !inside)
// has: if (rows >= 512) {
// has: dim3(((d + 127) / 128) * 4, 8), dim3(32, 32)
#include <cuda_runtime.h>
__global__ void largest(float *out, const float *in, int rows, int d)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= d)
        return;
    const float *p = in + col;
    float most = -INFINITY;
    // all rows
    for (int r = 0; r < rows; r++)
        most = fmaxf(most, p[(size_t)r * d]);
    out[col] = most;
}

extern "C" void entry(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    largest<<<(d + 127) / 128, 128, 0, stream>>>(out, in, rows, d);
}
