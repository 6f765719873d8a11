// The fourth warp of a warpgroup takes no part in the product, and waits for the others behind it.
#include <cuda_fp16.h>
#include <stdint.h>

// D (64 x 8) = A (64 x 16) B (16 x 8), both K-major without a swizzle: 8 rows of 16 bytes are a core matrix, the second
// half of K lies behind all of the first.
__device__ uint64_t descriptor(const void *p, uint32_t leading, uint32_t stride)
{
    uint64_t at = (uint32_t)__cvta_generic_to_shared(p);
    return at >> 4 | (uint64_t)(leading >> 4) << 16 | (uint64_t)(stride >> 4) << 32;
}

__device__ void fill(__half *a, __half *b, const __half *x, const __half *y)
{
    for (int k = threadIdx.x; k < 64 * 16; k += 128)
        a[k % 16 / 8 * 512 + k / 16 * 8 + k % 8] = x[k];
    for (int k = threadIdx.x; k < 8 * 16; k += 128)
        b[k % 16 / 8 * 64 + k / 16 * 8 + k % 8] = y[k];
}

__device__ void multiply(float d[4], uint64_t a, uint64_t b)
{
    asm volatile("{ .reg .pred p; setp.ne.u32 p, 0, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, 0; }"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "l"(a), "l"(b));
}

#define FENCE() asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define COMMIT() asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define WAIT(n) asm volatile("wgmma.wait_group.sync.aligned " #n ";" ::: "memory")
#define PROXY() asm volatile("fence.proxy.async.shared::cta;" ::: "memory")
// buffer: out f32 512 out
// buffer: x f16 1024 in
// buffer: y f16 128 in
// launch: product grid 1 block 128 args out x y
extern "C" __global__ void product(float *out, const __half *x, const __half *y)
{
    __shared__ __align__(128) __half a[1024], b[128];
    float d[4];
    fill(a, b, x, y);
    PROXY();
    __syncthreads();
    if (threadIdx.x < 96) {
        FENCE();
        multiply(d, descriptor(a, 1024, 128), descriptor(b, 128, 128));
        COMMIT();
        WAIT(0); // expect: unsafe wgmma-misuse
    }
    __syncthreads();
    for (int k = 0; k < 4; k++)
        out[threadIdx.x * 4 + k] = d[k];
}
