// Without a sign a number is never below 0, and by 8 the compiler divides well.
// transform: fast-division 0
// fact: n low 1 high 4096
// fact: width low 1 high 512
// applies: line 15
// has: const unsigned row = fast_quotient(i, by_width), part = row / 8;
// has: for (unsigned k = fast_remainder(i, by_width); k < width; k += 32)
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in, unsigned n, int width)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const unsigned row = i / width, part = row / 8;
    float sum = 0;
    for (unsigned k = i % width; k < width; k += 32)
        sum += in[row * width + k];
    out[i] = sum + part;
}

extern "C" void entry(float *out, const float *in, int n, int width, cudaStream_t stream)
{
    work<<<(n + 255) / 256, 256, 0, stream>>>(out, in, n, width);
}
