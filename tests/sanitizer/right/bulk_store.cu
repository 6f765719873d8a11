// Tiles are built in shared memory and stored in bulk, two in flight.
// buffer: out f32 1024 out
// launch: kernel grid 1 block 64 args out 16
__device__ unsigned place(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

#define STORE(to, from, bytes)                                                                                         \
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(place(from)), "r"(bytes) \
                 : "memory");                                                                                          \
    asm volatile("cp.async.bulk.commit_group;" ::: "memory")

extern "C" __global__ void kernel(float *out, int n)
{
    __shared__ alignas(128) float s[2][64];
    int t = threadIdx.x;
    for (int k = 0; k < n; k++) {
        if (t == 0)
            asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
        __syncthreads();
        s[k & 1][t] = t + 64 * k;
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (t == 0) {
            STORE(out + k * 64, s[k & 1], 256);
        }
    }
    if (t == 0)
        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
