// The launch leaves the last parameters to their default arguments.
// transform: specialise 96
// applies: line 7
// fact: d same 96
// has: work_d96<<<(n * d + 127) / 128, 128, 0, stream>>>(out, in, n);
#include <cstdint>
__global__ void work(float *out, const float *in, int n, int d, float scale = 2.0f, int skip = 0)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n * d)
        out[i] = in[i] * scale + float(i % d) + skip;
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<(n * d + 127) / 128, 128, 0, stream>>>(out, in, n, d);
}
