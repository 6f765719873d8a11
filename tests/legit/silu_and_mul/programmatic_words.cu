// expect: correct
// Waits for the kernel in front of it and lets the next one begin, as kernels of serving stacks do; it is launched
// without the attribute, so that both do nothing.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void kernel(__half *out, const __half *in, int rows, int d)
{
    cudaGridDependencySynchronize();
    asm volatile("griddepcontrol.wait;" ::: "memory");
    const __half *x = in + (int64_t)blockIdx.x * 2 * d;
    asm volatile("griddepcontrol.launch_dependents;");
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        float v = __half2float(x[i]);
        out[(int64_t)blockIdx.x * d + i] = __float2half(v / (1.0f + expf(-v)) * __half2float(x[d + i]));
    }
    cudaTriggerProgrammaticLaunchCompletion();
}

extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    kernel<<<rows, 256, 0, stream>>>(out, in, rows, d);
}
