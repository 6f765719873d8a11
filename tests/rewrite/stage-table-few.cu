// A table of few rows, as many as the program says, is there at once, and the loop stays as it was.
// transform: stage-table 4
// applies: line 15
// has: __shared__ alignas(16) float weight_table[128];
// has: for (int at = threadIdx.x + 1; at < 128; at += blockDim.x)
// has: for (int k = 0; k < 64; k++)
// has: sum += in[(long long)i * 64 + k] * weight_table[k * 2 + 1];
#include <cstdint>

__global__ void dots(float *out, const float *in, const float *weight, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float sum = 0.0f;
        for (int k = 0; k < 64; k++)
            sum += in[(long long)i * 64 + k] * weight[2 * k + 1];
        out[i] = sum;
    }
}

extern "C" void entry(float *out, const float *in, const float *weight, int n, cudaStream_t stream)
{
    dots<<<(n + 127) / 128, 128, 0, stream>>>(out, in, weight, n);
}
