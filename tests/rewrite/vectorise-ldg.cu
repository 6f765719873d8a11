// A load that says it is read-only is a load like any other.
// transform: vectorise 16
// applies: line 12
// has: packed_load<4>(&in[row * d + i])
// has: out_v.at[k] = in_v.at[k] + 1.0f;
// lacks: (&in[row * d + i + k])
#include <cstdint>

__global__ void work(float *out, const float *in, int n, int d)
{
    int row = blockIdx.x;
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[row * d + i] = __ldg(&in[row * d + i]) + 1.0f;
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<n, 128, 0, stream>>>(out, in, n, d);
}
