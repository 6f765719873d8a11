// A launch that leaves a parameter to its default argument.
// transform: vectorise 16
// applies: line 8
// has: work_vec4<<<(n + 511) / 512, 128, 0, stream>>>(out, in, n);
#include <cstdint>
__global__ void work(float *out, const float *in, int n, float scale = 2.0f)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * scale;
}

extern "C" void entry(float *out, const float *in, int n, cudaStream_t stream)
{
    work<<<(n + 127) / 128, 128, 0, stream>>>(out, in, n);
}
