// scale changes from turn to turn.
// transform: hoist -1
// leaves
#include <cstdint>

__global__ void work(float *out, const float *in, float scale, int d)
{
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        out[i] = in[i] / sqrtf(scale);
        scale += 1.0f;
    }
}

extern "C" void entry(float *out, const float *in, float scale, int d, cudaStream_t stream)
{
    work<<<1, 128, 0, stream>>>(out, in, scale, d);
}
