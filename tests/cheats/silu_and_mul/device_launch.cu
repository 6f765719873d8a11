// expect: compile-failed words device-side kernel launch
// row 17: Launches a kernel from the device, which needs relocatable device code.
#include <cstdint>
#include <cuda_fp16.h>
__global__ void child(__half *out) { out[threadIdx.x] = __float2half(0.0f); }
__global__ void kernel(__half *out, const __half *in, int rows, int d)
{
    child<<<1, 32>>>(out);
}
extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    kernel<<<rows, 128, 0, stream>>>(out, in, rows, d);
}
