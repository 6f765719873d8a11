// expect: unsafe
// row 4: Writes to constant memory, where no later call would look for changes.
#include <cstdint>
#include <cuda_fp16.h>
__constant__ int calls;
__global__ void kernel(__half *out, const __half *in, int rows, int d)
{
    const __half *x = in + (int64_t)blockIdx.x * 2 * d;
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        float v = __half2float(x[i]);
        out[(int64_t)blockIdx.x * d + i] = __float2half(v / (1.0f + expf(-v)) * __half2float(x[d + i]));
    }
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        unsigned long long at;
        asm("{ .reg .u64 a; mov.u64 a, %1; mov.u64 %0, a; }" : "=l"(at) : "l"(&calls));
        asm volatile("st.u32 [%0], %1;" :: "l"(at), "r"(d) : "memory");
    }
}
extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    kernel<<<rows, 256, 0, stream>>>(out, in, rows, d);
}
