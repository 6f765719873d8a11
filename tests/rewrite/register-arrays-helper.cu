// In a device function, downwards, as long as a template says.
// transform: register-arrays 0
// applies: line 12
// has: for (int k = N - 1; k > 0; k--)
// has: for (int k = 0; k < N; k += 2)
#include <cuda_runtime.h>

template <int N> __device__ float last(const float *in)
{
    float own[N];

    for (int k = 0; k < N; k += 2)
        own[k] = own[k + 1] = in[k];
    for (int k = N - 1; k > 0; k--) {
        own[k - 1] += own[k];
    }
    return own[0];
}

__global__ void work(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = last<16>(in + 16 * i);
}

extern "C" void entry(float *out, const float *in, int n, cudaStream_t stream)
{
    work<<<(n + 127) / 128, 128, 0, stream>>>(out, in, n);
}
