// The exponential is the same in every turn.
// transform: hoist 0
// applies: line 11
// has: const float factor = expf(scale + 1.0f);
// has: out[i] = in[i] * factor;
#include <cstdint>

__global__ void work(float *out, const float *in, float scale, int d)
{
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[i] = in[i] * expf(scale + 1.0f);
}

extern "C" void entry(float *out, const float *in, float scale, int d, cudaStream_t stream)
{
    work<<<1, 128, 0, stream>>>(out, in, scale, d);
}
