// The row may change in between.
// transform: register-cache -1
// leaves
#include <cstdint>

__global__ void work(float *out, const float *in, int n, int d)
{
    int row = blockIdx.x * d;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        float value = out[row + i];
        sum += value;
    }
    atomicAdd(&out[row], sum);
    __syncthreads();
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        float value = out[row + i];
        out[row + i] = value * in[i];
    }
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<n, 128, 0, stream>>>(out, in, n, d);
}
