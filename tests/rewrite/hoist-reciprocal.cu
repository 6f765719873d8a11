// Divided once.
// transform: hoist 1
// applies: line 11
// has: const float inverse_scale = 1.0f / scale;
// has: out[i] = in[i] * inverse_scale;
#include <cstdint>

__global__ void work(float *out, const float *in, float scale, int d)
{
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[i] = in[i] / scale;
}

extern "C" void entry(float *out, const float *in, float scale, int d, cudaStream_t stream)
{
    work<<<1, 128, 0, stream>>>(out, in, scale, d);
}
