// A parameter in front goes with its comma.
// transform: specialise 7
// fact: d same 7
// applies: line 9
// has: work_d7(float *out)
// has: work_d7<<<n, 128, 0, stream>>>(out)
#include <cstdint>

__global__ void work(int d, float *out)
{
    out[blockIdx.x] = (float)(blockIdx.x / d);
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<n, 128, 0, stream>>>(d, out);
}
