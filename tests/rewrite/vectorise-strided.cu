// A loop in steps of the block, unit stride in the row: every access becomes 16 bytes.
// transform: vectorise 16
// applies: line 14
// has: for (int i = threadIdx.x * 4; i < d; i += blockDim.x * 4) {
// has: packed_load<4>(&in[row * d + i])
// has: packed_store(&out[row * d + i], out_v);
// has: d % 4 == 0 && (uintptr_t)in % 16 == 0 && (uintptr_t)out % 16 == 0
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
