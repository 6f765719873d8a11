// The threads of a group meet in the loop, by a method.
// transform: vectorise -1
// leaves
#include <cooperative_groups.h>
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in, int n, int d)
{
    auto warp = cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block());
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[i] = warp.shfl_xor(in[i], 1);
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<n, 128, 0, stream>>>(out, in, n, d);
}
