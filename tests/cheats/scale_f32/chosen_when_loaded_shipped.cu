// expect: cheat words decided when it is loaded
// row 27: A function that is chosen by another one when the program is loaded.
#include <cstdint>

static int one() { return 1; }
extern "C" int (*pick())() { return one; }
int chosen() __attribute__((ifunc("pick")));

__global__ void scale_kernel(float *out, const float *x, const float *w, int d)
{
    int64_t row = (int64_t)blockIdx.x * d;
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[row + i] = x[row + i] * w[i];
}

extern "C" void scale(float *out, const float *x, const float *w, int rows, int d, cudaStream_t stream)
{
    int n = rows;
    scale_kernel<<<n, 128, 0, stream>>>(out, x, w, d);
}
