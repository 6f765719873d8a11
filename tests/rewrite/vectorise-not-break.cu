// A thread may leave the loop in the middle of a vector.
// transform: vectorise -1
// leaves
#include <cstdint>

__global__ void work(float *out, const float *in, int n, int d)
{
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        if (in[i] < 0.0f)
            break;
        out[i] = in[i];
    }
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<n, 128, 0, stream>>>(out, in, n, d);
}
