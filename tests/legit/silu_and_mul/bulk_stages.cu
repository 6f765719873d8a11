// expect: correct
// Rows come through a ring of bulk copies, where they may; one thread fetches, all wait for its mbarrier.
#include <cstdint>
#include <cuda_fp16.h>

constexpr int STAGES = 4, TILE = 1024, THREADS = 256;

__device__ __forceinline__ unsigned place(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

__device__ __forceinline__ void load(void *to, const void *from, unsigned bytes, uint64_t *bar)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(place(to)),
                 "l"(from), "r"(bytes), "r"(place(bar))
                 : "memory");
}

__device__ __forceinline__ void fetch(__half (*stage)[TILE], const __half *row, int d, int tile, uint64_t *bar)
{
    unsigned bytes = 2 * min(TILE, d - tile * TILE);
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(place(bar)), "r"(2 * bytes) : "memory");
    load(stage[0], row + tile * TILE, bytes, bar);
    load(stage[1], row + d + tile * TILE, bytes, bar);
}

__device__ __forceinline__ void wait(uint64_t *bar, unsigned parity)
{
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "again:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
                 "@!p bra again;\n"
                 "}" ::"r"(place(bar)),
                 "r"(parity)
                 : "memory");
}

__device__ __forceinline__ __half silu(__half gate, __half up)
{
    float x = __half2float(gate);
    return __float2half(x / (1.0f + expf(-x)) * __half2float(up));
}

__global__ void __launch_bounds__(THREADS) kernel(__half *out, const __half *in, int d)
{
    __shared__ alignas(128) __half stage[STAGES][2][TILE];
    __shared__ uint64_t full[STAGES];
    const __half *row = in + (int64_t)blockIdx.x * 2 * d;
    out += (int64_t)blockIdx.x * d;
    if (d % 8) { /* rows are not aligned to 16 bytes */
        for (int i = threadIdx.x; i < d; i += THREADS)
            out[i] = silu(row[i], row[d + i]);
        return;
    }
    int tiles = (d + TILE - 1) / TILE;
    if (threadIdx.x == 0) {
        for (int k = 0; k < STAGES; k++)
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(place(&full[k])) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        for (int k = 0; k < STAGES - 1 && k < tiles; k++)
            fetch(stage[k], row, d, k, &full[k]);
    }
    __syncthreads();
    for (int k = 0; k < tiles; k++) {
        int next = k + STAGES - 1;
        if (threadIdx.x == 0 && next < tiles)
            fetch(stage[next % STAGES], row, d, next, &full[next % STAGES]);
        wait(&full[k % STAGES], k / STAGES & 1);
        for (int i = threadIdx.x; i < TILE && k * TILE + i < d; i += THREADS)
            out[k * TILE + i] = silu(stage[k % STAGES][0][i], stage[k % STAGES][1][i]);
        __syncthreads();
    }
}

extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    kernel<<<rows, THREADS, 0, stream>>>(out, in, d);
}
