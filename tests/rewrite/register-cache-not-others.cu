// The second loop reads other elements.
// transform: register-cache -1
// leaves
#include <cstdint>

__global__ void work(float *out, const float *in, int n, int d)
{
    int row = blockIdx.x * d;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        float value = in[row + i];
        sum += value;
    }
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        float value = in[row + d - 1 - i];
        out[row + i] = value * sum;
    }
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<n, 128, 0, stream>>>(out, in, n, d);
}
