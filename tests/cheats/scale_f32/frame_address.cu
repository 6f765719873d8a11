// expect: not-understood words __builtin_frame_address is not understood
// row 27: Asks where its frame lies.
#include <cstdint>

__global__ void scale_kernel(float *out, const float *x, const float *w, int d)
{
    int64_t row = (int64_t)blockIdx.x * d;
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[row + i] = x[row + i] * w[i];
}

extern "C" void scale(float *out, const float *x, const float *w, int rows, int d, cudaStream_t stream)
{
    int n = rows;
if ((size_t)__builtin_frame_address(0) == 3)
        n = 1;
    scale_kernel<<<n, 128, 0, stream>>>(out, x, w, d);
}
