// right: one warp brings pieces of 1024 numbers and their gates by bulk copies into a ring of four, four warps work them off, full and empty by mbarriers; rows that are no whole 16 bytes take a plain kernel.
#include <cstdint>
#include <cuda_bf16.h>

constexpr int PIECE = 1024, RING = 4, WORKERS = 128;

__device__ __forceinline__ uint32_t shared(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

__device__ __forceinline__ void init(uint64_t *bar, int count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared(bar)), "r"(count) : "memory");
}

__device__ __forceinline__ void wait(uint64_t *bar, uint32_t parity)
{
    uint32_t done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done)
                     : "r"(shared(bar)), "r"(parity)
                     : "memory");
}

__device__ __forceinline__ void bring(void *to, const void *from, uint32_t bytes, uint64_t *bar)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared(to)), "l"(from),
                 "r"(bytes), "r"(shared(bar))
                 : "memory");
}

__device__ __forceinline__ float silu_mul(float x, float gate)
{
    float silu = x / (1.0f + expf(-x));
    return silu * gate;
}

__global__ void __launch_bounds__(WORKERS + 32) piped_kernel(__nv_bfloat16 *out, const __nv_bfloat16 *in, int rows, int d)
{
    __shared__ alignas(128) __nv_bfloat16 x[RING][PIECE];
    __shared__ alignas(128) __nv_bfloat16 gate[RING][PIECE];
    __shared__ alignas(8) uint64_t full[RING], empty[RING];
    if (threadIdx.x == 0) {
        for (int s = 0; s < RING; s++) {
            init(&full[s], 1);
            init(&empty[s], WORKERS);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    const int pieces = (d + PIECE - 1) / PIECE;
    const int64_t all = (int64_t)rows * pieces;
    int s = 0;
    uint32_t turn = 0;
    if (threadIdx.x >= WORKERS) {
        if (threadIdx.x > WORKERS)
            return;
        for (int64_t item = blockIdx.x; item < all; item += gridDim.x) {
            const int64_t row = item / pieces;
            const int at = (int)(item % pieces) * PIECE;
            const uint32_t bytes = 2 * min(PIECE, d - at);
            wait(&empty[s], turn ^ 1); // the phase before the first counts as over
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared(&full[s])), "r"(2 * bytes) : "memory");
            const __nv_bfloat16 *from = in + row * 2 * d + at;
            bring(x[s], from, bytes, &full[s]);
            bring(gate[s], from + d, bytes, &full[s]);
            if (++s == RING) {
                s = 0;
                turn ^= 1;
            }
        }
        return;
    }
    for (int64_t item = blockIdx.x; item < all; item += gridDim.x) {
        const int64_t row = item / pieces;
        const int at = (int)(item % pieces) * PIECE + 8 * threadIdx.x;
        const bool mine = at < d;
        uint4 u = make_uint4(0, 0, 0, 0), v = u;
        wait(&full[s], turn);
        if (mine) {
            u = *reinterpret_cast<const uint4 *>(&x[s][8 * threadIdx.x]);
            v = *reinterpret_cast<const uint4 *>(&gate[s][8 * threadIdx.x]);
        }
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared(&empty[s])) : "memory");
        if (++s == RING) {
            s = 0;
            turn ^= 1;
        }
        if (mine) {
            uint32_t *p = reinterpret_cast<uint32_t *>(&u);
            const uint32_t q[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
            for (int k = 0; k < 4; k++) {
                float low = silu_mul(__uint_as_float(p[k] << 16), __uint_as_float(q[k] << 16));
                float high = silu_mul(__uint_as_float(p[k] & 0xffff0000u), __uint_as_float(q[k] & 0xffff0000u));
                p[k] = (uint32_t)__bfloat16_as_ushort(__float2bfloat16(low)) | (uint32_t)__bfloat16_as_ushort(__float2bfloat16(high)) << 16;
            }
            *reinterpret_cast<uint4 *>(out + row * d + at) = u;
        }
    }
}

__global__ void __launch_bounds__(256) plain_kernel(__nv_bfloat16 *__restrict__ out, const __nv_bfloat16 *__restrict__ in, int rows, int d)
{
    for (int row = blockIdx.y; row < rows; row += gridDim.y) {
        const __nv_bfloat16 *x = in + (int64_t)row * 2 * d;
        for (int i = blockIdx.x * 256 + threadIdx.x; i < d; i += gridDim.x * 256)
            out[(int64_t)row * d + i] = __float2bfloat16(silu_mul(__bfloat162float(x[i]), __bfloat162float(x[d + i])));
    }
}

extern "C" void silu_and_mul(__nv_bfloat16 *out, const __nv_bfloat16 *in, int rows, int d, cudaStream_t stream)
{
    if (d % 8 == 0) {
        int64_t pieces = (int64_t)rows * ((d + PIECE - 1) / PIECE);
        piped_kernel<<<pieces < 132 * 8 ? (unsigned)pieces : 132 * 8, WORKERS + 32, 0, stream>>>(out, in, rows, d);
    } else {
        int wide = (d + 255) / 256;
        plain_kernel<<<dim3(wide < 64 ? wide : 64, rows), 256, 0, stream>>>(out, in, rows, d);
    }
}
