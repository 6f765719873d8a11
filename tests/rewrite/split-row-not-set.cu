// A turn reads what one before it may have left: one number of the vector is not set.
// transform: split-row -1
// leaves
#include <cuda_runtime.h>

__global__ void work(float4 *out, const float4 *in, int d)
{
    float4 x, y = {};
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        x = in[blockIdx.x * d + i];
        y.x = x.x;
        y.y = x.y;
        if (x.z > 0.0f)
            y.z = x.z;
        y.w = x.w;
        out[blockIdx.x * d + i] = y;
    }
}

extern "C" void entry(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    work<<<rows, 256, 0, stream>>>((float4 *)out, (const float4 *)in, d);
}
