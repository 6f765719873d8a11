// 64 arrivals are expected, 32 come.
// buffer: out f32 64 out
// launch: kernel grid 1 block 64 args out
__device__ unsigned place(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

__device__ void init(unsigned long long *bar, int arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(place(bar)), "r"(arrivals) : "memory");
}

#define ARRIVE(bar) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(place(bar)) : "memory")

#define WAIT(bar, parity)                                                                                              \
    asm volatile("{\n"                                                                                                 \
                 ".reg .pred p;\n"                                                                                     \
                 "again:\n"                                                                                            \
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"                                             \
                 "@p bra done;\n"                                                                                      \
                 "bra again;\n"                                                                                        \
                 "done:\n"                                                                                             \
                 "}" ::"r"(place(bar)),                                                                                \
                 "r"(parity)                                                                                           \
                 : "memory")

extern "C" __global__ void kernel(float *out)
{
    __shared__ unsigned long long bar;
    int t = threadIdx.x;
    if (t == 0)
        init(&bar, 64);
    __syncthreads();
    if (t < 32)
        ARRIVE(&bar);
    WAIT(&bar, 0); // expect: hung deadlock
    out[t] = t;
}
