// A fragment of A in a register is changed while wgmma may still read it.
#include <cuda_fp16.h>
#include <stdint.h>

// D (64 x 8) = A (64 x 16) B (16 x 8), A in registers, B K-major without a swizzle.
__device__ uint64_t descriptor(const void *p, uint32_t leading, uint32_t stride)
{
    uint64_t at = (uint32_t)__cvta_generic_to_shared(p);
    return at >> 4 | (uint64_t)(leading >> 4) << 16 | (uint64_t)(stride >> 4) << 32;
}

__device__ void multiply(float d[4], const uint32_t a[4], uint64_t b)
{
    asm volatile("{ .reg .pred p; setp.ne.u32 p, 1, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, p, 1, 1, 0; }"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

#define FENCE() asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define COMMIT() asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define WAIT(n) asm volatile("wgmma.wait_group.sync.aligned " #n ";" ::: "memory")
#define PROXY() asm volatile("fence.proxy.async.shared::cta;" ::: "memory")
// buffer: out f32 512 out
// buffer: x u32 512 in
// buffer: y f16 128 in
// launch: product grid 1 block 128 args out x y
extern "C" __global__ void product(float *out, const uint32_t *x, const __half *y)
{
    __shared__ __align__(128) __half b[128];
    float d[4] = {0.f, 0.f, 0.f, 0.f};
    uint32_t a[4];
    b[threadIdx.x] = y[threadIdx.x];
    for (int k = 0; k < 4; k++)
        a[k] = x[threadIdx.x * 4 + k] & 0x3c003c00;
    PROXY();
    __syncthreads();
    FENCE();
    multiply(d, a, descriptor(b, 128, 128));
    COMMIT();
    asm volatile("add.u32 %0, %0, 1;" : "+r"(a[2])); // expect: unsafe wgmma-misuse
    WAIT(0);
    for (int k = 0; k < 4; k++)
        out[threadIdx.x * 4 + k] = d[k] + (float)a[2];
}
