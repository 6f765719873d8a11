// A specialisation's parameters have the types that the template says.
// transform: restrict 0
// leaves
#include <cuda_runtime.h>

namespace ours {
template <typename T> __global__ void work(T *out, const T *in, int n);

template <> __global__ void work<float>(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i];
}
}

extern "C" void entry(float *out, const float *in, int n, cudaStream_t stream)
{
    ours::work<<<(n + 255) / 256, 256, 0, stream>>>(out, in, n);
}
