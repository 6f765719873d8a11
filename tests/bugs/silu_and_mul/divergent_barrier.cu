// expect: unsafe words barrier
// row 15: A barrier inside a condition that not all threads take.
#include <cuda_fp16.h>
__global__ void kernel(__half *out, const __half *in, int d)
{
    __shared__ __half s[128];
    const __half *x = in + (size_t)blockIdx.x * 2 * d;
    for (int base = 0; base < d; base += 128) {
        int i = base + threadIdx.x;
        if (i < d) {
            s[threadIdx.x] = x[i];
            __syncthreads();
            float v = __half2float(s[threadIdx.x]);
            out[(size_t)blockIdx.x * d + i] = __float2half(v / (1.0f + expf(-v)) * __half2float(x[d + i]));
        } else {
            s[threadIdx.x] = x[0];
            __syncthreads();
        }
    }
}
extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    kernel<<<rows, 128, 0, stream>>>(out, in, d);
}
