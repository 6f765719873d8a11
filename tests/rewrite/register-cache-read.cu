// Read in both loops.
// transform: register-cache 4
// applies: line 17
// has: in_kept[item] = value;
// has: float value = in_kept[item];
// has: if (d <= 4 * threads) { // the registers hold the row
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
        float value = in[row + i];
        out[row + i] = value * sum;
    }
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<n, 128, 0, stream>>>(out, in, n, d);
}
