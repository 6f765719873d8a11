// More bytes are expected than ever come: the wait never ends.
// buffer: out f32 256 out
// buffer: in f32 1024 in
// launch: kernel grid 1 block 64 args out in
__device__ unsigned place(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

__device__ void init(unsigned long long *bar, int arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(place(bar)), "r"(arrivals) : "memory");
}

__device__ void expect(unsigned long long *bar, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(place(bar)), "r"(bytes) : "memory");
}

#define LOAD(to, from, bytes, bar)                                                                                     \
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(      \
                     place(to)),                                                                                       \
                 "l"(from), "r"(bytes), "r"(place(bar))                                                                \
                 : "memory")

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

extern "C" __global__ void kernel(float *out, const float *in)
{
    __shared__ alignas(16) float s[64];
    __shared__ unsigned long long bar;
    int t = threadIdx.x;
    if (t == 0)
        init(&bar, 1);
    __syncthreads();
    if (t == 0) {
        expect(&bar, 512);
        LOAD(s, in, 256, &bar);
    }
    WAIT(&bar, 0); // expect: hung deadlock
    out[t] = s[t];
}
