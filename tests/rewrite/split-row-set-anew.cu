// What stands ahead of the loop is set anew in each turn, one number of a vector after the other.
// transform: split-row 128
// applies: line 11
// has: for (std::size_t i = blockIdx.y * blockDim.x + threadIdx.x; i < d; i += gridDim.y * blockDim.x) {
#include <cuda_runtime.h>

__global__ void work(float4 *out, const float4 *in, const float *scale, int d)
{
    float4 x, y;
    float by;
    for (std::size_t i = threadIdx.x; i < d; i += blockDim.x) {
        x = in[blockIdx.x * d + i];
        by = scale[i];
        y.x = x.x * by;
        y.y = x.y * by;
        y.z = x.z * by;
        y.w = x.w * by;
        out[blockIdx.x * d + i] = y;
    }
}

extern "C" void entry(float *out, const float *in, const float *scale, int rows, int d, cudaStream_t stream)
{
    work<<<rows, 256, 0, stream>>>((float4 *)out, (const float4 *)in, scale, d);
}
