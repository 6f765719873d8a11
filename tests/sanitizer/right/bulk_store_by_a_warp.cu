// All lanes of a warp store the same tile: they leave the same bytes, and begin one copy together.
// buffer: out f32 64 out
// launch: kernel grid 1 block 64 args out
__device__ unsigned place(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

#define STORE(to, from, bytes)                                                                                         \
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(place(from)), "r"(bytes) \
                 : "memory");                                                                                          \
    asm volatile("cp.async.bulk.commit_group;" ::: "memory")

extern "C" __global__ void kernel(float *out)
{
    __shared__ alignas(128) float s[64];
    s[threadIdx.x] = threadIdx.x;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x < 32) {
        STORE(out, s, 256);
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}
