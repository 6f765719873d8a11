// expect: not-understood words keeps state between calls
// row 4: The host counts its calls and launches nothing from the second on.
#include <cstdint>
#include <cuda_fp16.h>
__global__ void kernel(__half *out, const __half *in, int rows, int d)
{
    out[threadIdx.x] = in[threadIdx.x];
}
extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    static int calls = 0;
    if (calls++ > 0)
        return;
    kernel<<<rows, 128, 0, stream>>>(out, in, rows, d);
}
