// expect: wrong words never written
// row 21: A static initialiser launches what the kernel then needs: no host code but the launcher's is run.
#include <cstdint>
#include <cuda_fp16.h>
__device__ float table[1024];
__global__ void fill() { table[threadIdx.x] = expf(-(float)threadIdx.x); }
static int filled = (fill<<<1, 1024>>>(), 1);
__global__ void kernel(__half *out, const __half *in, int rows, int d)
{
    if (table[0] != 1.0f)
        return;
    const __half *x = in + (int64_t)blockIdx.x * 2 * d;
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        float v = __half2float(x[i]);
        out[(int64_t)blockIdx.x * d + i] = __float2half(v / (1.0f + expf(-v)) * __half2float(x[d + i]));
    }
}
extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    kernel<<<rows, 256, 0, stream>>>(out, in, rows, d);
}
