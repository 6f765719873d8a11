// An mbarrier that counts cp.async copies.
// buffer: out f32 64 out
// buffer: in f32 256 in
// launch: kernel grid 1 block 64 args out in 4
__device__ unsigned place(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

__device__ void init(unsigned long long *bar, int arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(place(bar)), "r"(arrivals) : "memory");
}

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

extern "C" __global__ void kernel(float *out, const float *in, int n)
{
    __shared__ float s[2][64];
    __shared__ unsigned long long bar[2];
    int t = threadIdx.x;
    if (t == 0) {
        init(&bar[0], 64);
        init(&bar[1], 64);
    }
    __syncthreads();
    float sum = 0;
    for (int k = 0; k <= n; k++) {
        if (k < n) {
            asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(place(&s[k & 1][t])), "l"(in + k * 64 + t) : "memory");
            asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(place(&bar[k & 1])) : "memory");
        }
        if (k > 0) {
            WAIT(&bar[(k - 1) & 1], (k - 1) >> 1 & 1);
            sum += s[(k - 1) & 1][63 - t];
        }
        __syncthreads();
    }
    out[t] = sum;
}
