// One warp fetches, the others work: full and empty mbarriers of four stages.
// buffer: out f32 384 out
// buffer: in f32 12288 in
// launch: kernel grid 4 block 128 args out in 24
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

#define ARRIVE(bar) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(place(bar)) : "memory")

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

constexpr int STAGES = 4;

extern "C" __global__ void kernel(float *out, const float *in, int n)
{
    __shared__ alignas(128) float s[STAGES][128];
    __shared__ unsigned long long full[STAGES], empty[STAGES];
    int t = threadIdx.x, warp = t / 32;
    in += blockIdx.x * 128 * n;
    if (t == 0) {
        for (int k = 0; k < STAGES; k++) {
            init(&full[k], 1);
            init(&empty[k], 3);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (warp == 0) {
        if (t == 0)
            for (int k = 0; k < n; k++) {
                int stage = k % STAGES;
                if (k >= STAGES)
                    WAIT(&empty[stage], (k / STAGES - 1) & 1);
                expect(&full[stage], 512);
                LOAD(s[stage], in + k * 128, 512, &full[stage]);
            }
        return;
    }
    float sum = 0;
    for (int k = 0; k < n; k++) {
        int stage = k % STAGES;
        WAIT(&full[stage], k / STAGES & 1);
        sum += s[stage][t - 32] + s[stage][127 - (t - 32)];
        __syncwarp();
        if (t % 32 == 0)
            ARRIVE(&empty[stage]);
    }
    out[blockIdx.x * 96 + t - 32] = sum;
}
