// A persistent grid; each thread streams its own 16-byte pieces through a three-deep cp.async ring in shared memory (its own slots, so no barrier); odd widths take a plain kernel.
#include <cstdint>
#include <cuda_bf16.h>

constexpr int THREADS = 128;
constexpr int STAGES = 3;

__device__ __forceinline__ void copy16(void *to, const void *from)
{
    unsigned address = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from) : "memory");
}

__device__ __forceinline__ float silu(float x)
{
    return x / (1.0f + expf(-x));
}

__global__ void __launch_bounds__(THREADS) silu_ring(__nv_bfloat16 *out, const __nv_bfloat16 *in, int64_t vectors,
                                                     int per_row)
{
    __shared__ uint4 ring[STAGES][2][THREADS];
    const int64_t stride = (int64_t)gridDim.x * THREADS;
    const uint4 *source = reinterpret_cast<const uint4 *>(in);
    uint4 *target = reinterpret_cast<uint4 *>(out);
    const int tid = threadIdx.x;

    auto fetch = [&](int64_t i, int stage) {
        if (i < vectors) {
            const int64_t row = i / per_row;
            const uint4 *p = source + i + row * per_row; // a row of `in` is twice as long
            copy16(&ring[stage][0][tid], p);
            copy16(&ring[stage][1][tid], p + per_row);
        }
        asm volatile("cp.async.commit_group;" ::: "memory"); // also when empty: the groups are counted
    };

    const int64_t first = (int64_t)blockIdx.x * THREADS + tid;
#pragma unroll
    for (int s = 0; s < STAGES - 1; s++)
        fetch(first + s * stride, s);

    int stage = 0;
    for (int64_t i = first; i < vectors; i += stride) {
        int next = stage + STAGES - 1;
        if (next >= STAGES)
            next -= STAGES;
        fetch(i + (STAGES - 1) * stride, next);
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 1) : "memory");

        uint4 a = ring[stage][0][tid], b = ring[stage][1][tid], r;
        const __nv_bfloat162 *x = reinterpret_cast<const __nv_bfloat162 *>(&a);
        const __nv_bfloat162 *g = reinterpret_cast<const __nv_bfloat162 *>(&b);
        __nv_bfloat162 *y = reinterpret_cast<__nv_bfloat162 *>(&r);
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const float2 p = __bfloat1622float2(x[k]), q = __bfloat1622float2(g[k]);
            y[k] = __floats2bfloat162_rn(silu(p.x) * q.x, silu(p.y) * q.y);
        }
        target[i] = r;
        stage = stage + 1 == STAGES ? 0 : stage + 1;
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
}

__global__ void silu_plain(__nv_bfloat16 *out, const __nv_bfloat16 *in, int rows, int d)
{
    for (int row = blockIdx.y; row < rows; row += gridDim.y) {
        const __nv_bfloat16 *x = in + (int64_t)row * 2 * d;
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < d; i += gridDim.x * blockDim.x)
            out[(int64_t)row * d + i] =
                __float2bfloat16(silu(__bfloat162float(x[i])) * __bfloat162float(x[(int64_t)d + i]));
    }
}

extern "C" void silu_and_mul(__nv_bfloat16 *out, const __nv_bfloat16 *in, int rows, int d, cudaStream_t stream)
{
    if (d % 8 == 0) {
        const int64_t vectors = (int64_t)rows * (d / 8);
        const int64_t wanted = (vectors + THREADS - 1) / THREADS;
        const int blocks = (int)(wanted < 132 * 16 ? wanted : 132 * 16);
        silu_ring<<<blocks, THREADS, 0, stream>>>(out, in, vectors, d / 8);
    } else {
        const int across = (d + 255) / 256 < 64 ? (d + 255) / 256 : 64;
        silu_plain<<<dim3(across, rows), 256, 0, stream>>>(out, in, rows, d);
    }
}
