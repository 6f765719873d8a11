// Any number of threads: 16 steps of 16 bytes are all registers that each of 1024 may have.
// transform: register-cache 16
// leaves
#include <cstdint>

__global__ void work(float4 *out, const float4 *in, int n, int d)
{
    int row = blockIdx.x * d;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        float4 value = in[row + i];
        sum += value.x + value.y + value.z + value.w;
    }
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        float4 value = in[row + i];
        value.x *= sum;
        out[row + i] = value;
    }
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    int threads = d < 1024 ? d : 1024;
    work<<<n, threads, 0, stream>>>((float4 *)out, (const float4 *)in, n, d);
}
