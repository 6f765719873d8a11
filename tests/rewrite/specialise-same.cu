// d is 128 in every workload.
// transform: specialise 128
// fact: d same 128
// applies: line 11
// has: constexpr int d = 128;
// has: if (d == 128) {
// has: work_d128<<<n, 128, 0, stream>>>(out, in, n);
// has: work<<<n, 128, 0, stream>>>(out, in, n, d);
#include <cstdint>

__global__ void work(float *out, const float *in, int n, int d)
{
    for (int row = blockIdx.x; row < n; row += gridDim.x)
        for (int i = threadIdx.x; i < d; i += blockDim.x)
            out[row * d + i] = 2.0f * in[row * d + i];
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<n, 128, 0, stream>>>(out, in, n, d);
}
