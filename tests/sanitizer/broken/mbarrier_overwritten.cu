// An array that is one element too long for its place reaches into the mbarrier.
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
    __shared__ struct {
        float s[63];
        int pad;
        unsigned long long bar;
    } m;
    int t = threadIdx.x;
    if (t == 0)
        init(&m.bar, 64);
    __syncthreads();
    (m.s + 1)[t == 63 ? 64 : t] = t + 1;
    __syncthreads();
    ARRIVE(&m.bar); // expect: unsafe mbarrier-misuse
    WAIT(&m.bar, 0);
    out[t] = t;
}
