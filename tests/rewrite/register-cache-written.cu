// Written in the first loop and read in the second.
// transform: register-cache 2
// applies: line 16
// has: out_kept[item] = value;
// has: float value = out_kept[item];
#include <cstdint>

__global__ void work(float *out, const float *in, int n, int d)
{
    int row = blockIdx.x * d;
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        float value = in[row + i] * 2.0f;
        out[row + i] = value;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        float value = out[row + i];
        out[row + i] = value + 1.0f;
    }
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<n, 128, 0, stream>>>(out, in, n, d);
}
