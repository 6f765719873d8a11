// The loop is left early: what a turn does decides about the next.
// transform: drop-grid-stride -1
// leaves
#include <cstdint>

__global__ void work(float *out, const float *in, int n, int d)
{
    for (int row = blockIdx.x; row < n; row += gridDim.x) {
        if (in[row * d] < 0.0f)
            break;
        out[row * d + threadIdx.x] = 2.0f * in[row * d + threadIdx.x];
    }
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<n, 128, 0, stream>>>(out, in, n, d);
}
