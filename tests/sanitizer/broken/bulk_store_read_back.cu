// What a bulk copy writes is read before its group is waited for.
// buffer: out f32 64 inout
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
    __shared__ alignas(16) float s[64];
    int t = threadIdx.x;
    s[t] = t;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t == 0) {
        STORE(out, s, 256);
        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
        out[0] = out[5] + 1; // expect: unsafe race-global
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}
