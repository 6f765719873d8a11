// Two stages: while one is summed, a 1-D bulk copy fills the other; an mbarrier each says when it is full.
// buffer: out f32 1024 out
// buffer: in f32 16384 in
// launch: kernel grid 4 block 64 args out in 4
__device__ unsigned place(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

__device__ void fetch(float4 *to, const float4 *from, unsigned long long *bar)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 1024;" ::"r"(place(bar)) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, [%2];" ::"r"(place(to)),
                 "l"(from), "r"(place(bar))
                 : "memory");
}

__device__ void wait(unsigned long long *bar, unsigned parity)
{
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "again:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
                 "@p bra done;\n"
                 "bra again;\n"
                 "done:\n"
                 "}" ::"r"(place(bar)),
                 "r"(parity)
                 : "memory");
}

extern "C" __global__ void kernel(float4 *out, const float4 *in, int n)
{
    __shared__ alignas(128) float4 stage[2][64];
    __shared__ unsigned long long full[2];
    int t = threadIdx.x, tiles = 16;
    in += blockIdx.x * tiles * 64;
    if (t == 0) {
        for (int k = 0; k < 2; k++)
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(place(&full[k])) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (t == 0)
        fetch(stage[0], in, &full[0]);
    float4 sum = {0, 0, 0, (float)n};
    for (int k = 0; k < tiles; k++) {
        if (t == 0 && k + 1 < tiles)
            fetch(stage[(k + 1) & 1], in + (k + 1) * 64, &full[(k + 1) & 1]);
        wait(&full[k & 1], k >> 1 & 1);
        float4 v = stage[k & 1][63 - t];
        sum.x += v.x;
        sum.y += v.y;
        sum.z += v.z;
        sum.w += v.w;
        __syncthreads();
    }
    out[blockIdx.x * 64 + t] = sum;
}
