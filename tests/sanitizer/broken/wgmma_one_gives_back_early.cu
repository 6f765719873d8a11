// One thread of the warpgroup gives the tiles back before it has waited for the product that reads them.
#include <cuda_fp16.h>
#include <stdint.h>

// D (64 x 8) = A (64 x 16) B (16 x 8), both K-major without a swizzle: 8 rows of 16 bytes are a core matrix, the second
// half of K lies behind all of the first.
__device__ uint64_t descriptor(const void *p, uint32_t leading, uint32_t stride)
{
    uint64_t at = (uint32_t)__cvta_generic_to_shared(p);
    return at >> 4 | (uint64_t)(leading >> 4) << 16 | (uint64_t)(stride >> 4) << 32;
}

__device__ void fill(__half *a, __half *b, const __half *x, const __half *y, int turn)
{
    for (int k = threadIdx.x % 32; k < 64 * 16; k += 32)
        a[k % 16 / 8 * 512 + k / 16 * 8 + k % 8] = x[(k + turn) % 1024]; // expect: unsafe race-shared
    for (int k = threadIdx.x % 32; k < 8 * 16; k += 32)
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
__device__ uint32_t place(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

__device__ void wait(uint64_t *bar, int parity)
{
    uint32_t done = 0;
    while (!done)
        asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
                     : "=r"(done) : "r"(place(bar)), "r"(parity) : "memory");
}

__device__ void arrive(uint64_t *bar)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(place(bar)) : "memory");
}

// buffer: out f32 512 out
// buffer: x f16 1024 in
// buffer: y f16 128 in
// launch: product grid 1 block 160 args out x y
extern "C" __global__ void product(float *out, const __half *x, const __half *y)
{
    __shared__ __align__(128) __half a[1024], b[128];
    __shared__ uint64_t full, empty;
    float d[4] = {0.f, 0.f, 0.f, 0.f};
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 32;" ::"r"(place(&full)) : "memory");
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(place(&empty)) : "memory");
    }
    __syncthreads();
    for (int turn = 0; turn < 2; turn++) {
        if (threadIdx.x >= 128) {
            if (turn > 0)
                wait(&empty, turn - 1);
            fill(a, b, x, y, turn);
            PROXY();
            arrive(&full);
        } else {
            wait(&full, turn);
            FENCE();
            multiply(d, descriptor(a, 1024, 128), descriptor(b, 128, 128));
            COMMIT();
            if (threadIdx.x == 39)
                arrive(&empty);
            WAIT(0);
        }
    }
    if (threadIdx.x < 128)
        for (int k = 0; k < 4; k++)
            out[threadIdx.x * 4 + k] = d[k];
}
