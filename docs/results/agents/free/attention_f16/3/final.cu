// Causal attention by wgmma. A block holds 64 queries near the end of a head and 64 near its start, so that all blocks
// have like work; two warpgroups take the tiles of 64 keys in turn, both for all its queries, and join their results.
#include <cstdint>
#include <cuda_fp16.h>

constexpr int D = 64, TILE = 64, STAGES = 5, AHEAD = STAGES - 1, THREADS = 256;
constexpr int TILE_BYTES = TILE * D * 2, STAGE_BYTES = 4 * TILE_BYTES, Q_BYTES = 2 * TILE_BYTES;
constexpr int SMEM_BYTES = Q_BYTES + STAGES * STAGE_BYTES + 1024;

__device__ __forceinline__ float exp2_fast(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

__device__ __forceinline__ void copy16(uint32_t to, const void *from, bool live)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(live ? 16 : 0) : "memory");
}

// Rows of 128 bytes in swizzled atoms of 8 rows, 1024 bytes from atom to atom.
__device__ __forceinline__ uint64_t descriptor(uint32_t address)
{
    return (uint64_t)(address >> 4 & 0x3fff) | (uint64_t)1 << 16 | (uint64_t)(1024 >> 4) << 32 | (uint64_t)1 << 62;
}

// d = (add ? d : 0) + a b^T, both with 16 numbers of a row in shared memory.
__device__ __forceinline__ void wgmma_scores(float (&d)[32], uint64_t a, uint64_t b, int add)
{
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, p, 1, 1, 0, 0;\n}\n"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
                 : "l"(a), "l"(b), "r"(add)
                 : "memory");
}

// d += a b, a in registers, 16 rows of b in shared memory.
__device__ __forceinline__ void wgmma_values(float (&d)[32], const uint32_t *a, uint64_t b)
{
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %37, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, {%32, %33, %34, %35}, %36, p, 1, 1, 1;\n}\n"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(1)
                 : "memory");
}

// The registers of a left operand are the wgmma's until it is waited for: called after that, a use that the compiler
// sees (no lane has n < 0).
__device__ __forceinline__ void keep(const uint32_t (&p)[16], int n)
{
    asm volatile("{\n.reg .pred p;\n.reg .b32 t;\nxor.b32 t, %0, %1;\n"
                 "xor.b32 t, t, %2;\nxor.b32 t, t, %3;\nxor.b32 t, t, %4;\nxor.b32 t, t, %5;\n"
                 "xor.b32 t, t, %6;\nxor.b32 t, t, %7;\nxor.b32 t, t, %8;\nxor.b32 t, t, %9;\n"
                 "xor.b32 t, t, %10;\nxor.b32 t, t, %11;\nxor.b32 t, t, %12;\nxor.b32 t, t, %13;\n"
                 "xor.b32 t, t, %14;\nxor.b32 t, t, %15;\n"
                 "setp.lt.s32 p, %16, 0;\n@p st.shared.b32 [%16], t;\n}\n" ::"r"(p[0]), "r"(p[1]), "r"(p[2]), "r"(p[3]), "r"(p[4]), "r"(p[5]), "r"(p[6]), "r"(p[7]), "r"(p[8]), "r"(p[9]), "r"(p[10]), "r"(p[11]), "r"(p[12]), "r"(p[13]), "r"(p[14]), "r"(p[15]), "r"(n)
                 : "memory");
}

struct state {
    float o[32], m0, m1, l0, l1; // rows lane / 4 and lane / 4 + 8 of the warp's 16
};

__device__ __forceinline__ float quad_max(float v)
{
    v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, 1));
    return fmaxf(v, __shfl_xor_sync(0xffffffffu, v, 2));
}

__device__ __forceinline__ float quad_sum(float v)
{
    v += __shfl_xor_sync(0xffffffffu, v, 1);
    return v + __shfl_xor_sync(0xffffffffu, v, 2);
}

// Scores to weights: the state's maximum, sum and values follow; p becomes the left operand of the values. On the
// diagonal (both tiles at the same place) a key after its query weighs nothing.
__device__ __forceinline__ void weigh(state &t, float (&s)[32], uint32_t (&p)[16], float scale, bool diagonal, int row,
                                      int q)
{
    if (diagonal) {
#pragma unroll
        for (int j = 0; j < 8; j++) {
            const int key = j * 8 + q;
            s[4 * j] = key > row ? -INFINITY : s[4 * j];
            s[4 * j + 1] = key + 1 > row ? -INFINITY : s[4 * j + 1];
            s[4 * j + 2] = key > row + 8 ? -INFINITY : s[4 * j + 2];
            s[4 * j + 3] = key + 1 > row + 8 ? -INFINITY : s[4 * j + 3];
        }
    }
    float a = t.m0, b = t.m1;
#pragma unroll
    for (int j = 0; j < 8; j++) {
        a = fmaxf(a, fmaxf(s[4 * j], s[4 * j + 1]));
        b = fmaxf(b, fmaxf(s[4 * j + 2], s[4 * j + 3]));
    }
    a = quad_max(a);
    b = quad_max(b);
    const float back0 = exp2_fast((t.m0 - a) * scale), back1 = exp2_fast((t.m1 - b) * scale);
    t.m0 = a;
    t.m1 = b;
    a *= scale;
    b *= scale;
    float sum0 = 0.0f, sum1 = 0.0f;
#pragma unroll
    for (int j = 0; j < 8; j++) {
        s[4 * j] = exp2_fast(s[4 * j] * scale - a);
        s[4 * j + 1] = exp2_fast(s[4 * j + 1] * scale - a);
        s[4 * j + 2] = exp2_fast(s[4 * j + 2] * scale - b);
        s[4 * j + 3] = exp2_fast(s[4 * j + 3] * scale - b);
        sum0 += s[4 * j] + s[4 * j + 1];
        sum1 += s[4 * j + 2] + s[4 * j + 3];
        const __half2 h = __floats2half2_rn(s[4 * j], s[4 * j + 1]), g = __floats2half2_rn(s[4 * j + 2], s[4 * j + 3]);
        p[2 * j] = *reinterpret_cast<const uint32_t *>(&h);
        p[2 * j + 1] = *reinterpret_cast<const uint32_t *>(&g);
    }
    t.l0 = t.l0 * back0 + sum0;
    t.l1 = t.l1 * back1 + sum1;
#pragma unroll
    for (int j = 0; j < 8; j++) {
        t.o[4 * j] *= back0;
        t.o[4 * j + 1] *= back0;
        t.o[4 * j + 2] *= back1;
        t.o[4 * j + 3] *= back1;
    }
}

__device__ __forceinline__ void clear(state &t)
{
#pragma unroll
    for (int i = 0; i < 32; i++)
        t.o[i] = 0.0f;
    t.m0 = t.m1 = -INFINITY;
    t.l0 = t.l1 = 0.0f;
}

__device__ __forceinline__ void give(const state &t, float4 *to)
{
#pragma unroll
    for (int j = 0; j < 8; j++)
        to[j * 128] = make_float4(t.o[4 * j], t.o[4 * j + 1], t.o[4 * j + 2], t.o[4 * j + 3]);
    to[8 * 128] = make_float4(t.m0, t.l0, t.m1, t.l1);
}

// Joins what the other warpgroup gave and stores the warp's 16 rows.
__device__ __forceinline__ void finish(const state &t, const float4 *from, __half *tile, __half *out, int row0, int n,
                                       float scale, int lane)
{
    constexpr int PITCH = D + 8;
    const float4 f = from[8 * 128];
    const float top0 = fmaxf(t.m0, f.x), top1 = fmaxf(t.m1, f.z);
    float w0 = exp2_fast((t.m0 - top0) * scale), v0 = exp2_fast((f.x - top0) * scale);
    float w1 = exp2_fast((t.m1 - top1) * scale), v1 = exp2_fast((f.z - top1) * scale);
    const float r0 = 1.0f / quad_sum(t.l0 * w0 + f.y * v0), r1 = 1.0f / quad_sum(t.l1 * w1 + f.w * v1);
    w0 *= r0;
    v0 *= r0;
    w1 *= r1;
    v1 *= r1;
    const int r = lane / 4, q = lane % 4 * 2;
#pragma unroll
    for (int j = 0; j < 8; j++) {
        const float4 o = from[j * 128];
        *reinterpret_cast<__half2 *>(tile + r * PITCH + j * 8 + q) =
            __floats2half2_rn(t.o[4 * j] * w0 + o.x * v0, t.o[4 * j + 1] * w0 + o.y * v0);
        *reinterpret_cast<__half2 *>(tile + (r + 8) * PITCH + j * 8 + q) =
            __floats2half2_rn(t.o[4 * j + 2] * w1 + o.z * v1, t.o[4 * j + 3] * w1 + o.w * v1);
    }
    __syncwarp();
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const int row = k * 4 + lane / 8, chunk = lane % 8;
        if (row0 + row < n)
            *reinterpret_cast<uint4 *>(out + (size_t)(row0 + row) * D + chunk * 8) =
                *reinterpret_cast<const uint4 *>(tile + row * PITCH + chunk * 8);
    }
}

__global__ void __launch_bounds__(THREADS, 1)
    attention_wgmma(__half *__restrict__ out, const __half *__restrict__ q, const __half *__restrict__ k,
                    const __half *__restrict__ v, int n, float scale)
{
    extern __shared__ unsigned char raw[];
    const uint32_t start = ((uint32_t)__cvta_generic_to_shared(raw) + 1023) & ~1023u;
    unsigned char *base = raw + (start - (uint32_t)__cvta_generic_to_shared(raw));
    const uint32_t stages = start + Q_BYTES;
    const int tid = threadIdx.x, group = tid / 128, warp = tid / 32 % 4, lane = tid % 32;
    const int tiles = (n + TILE - 1) / TILE;
    const int near = blockIdx.x, far = tiles - 1 - near; // the tiles of queries; one, where they are the same
    const bool two = near != far;
    const size_t head = (size_t)blockIdx.y * n * D;
    const int chunk = tid % 8, line = tid / 8;
    const uint32_t to = line * 128 + ((chunk ^ (line & 7)) << 4);
    const int turns = far / 2 + 1;

    auto load_tile = [&](uint32_t where, const __half *from, int tile) {
#pragma unroll
        for (int t = 0; t < 2; t++) {
            const int row = tile * TILE + line + t * 32;
            copy16(where + to + t * 32 * 128, row < n ? from + head + (size_t)row * D + chunk * 8 : from, row < n);
        }
    };
    auto load = [&](int turn) {
        const uint32_t stage = stages + (turn % STAGES) * STAGE_BYTES;
#pragma unroll
        for (int g = 0; g < 2; g++)
            if (turn * 2 + g <= far) {
                load_tile(stage + g * 2 * TILE_BYTES, k, turn * 2 + g);
                load_tile(stage + g * 2 * TILE_BYTES + TILE_BYTES, v, turn * 2 + g);
            }
    };

    load_tile(start, q, far);
    if (two)
        load_tile(start + TILE_BYTES, q, near);
#pragma unroll
    for (int t = 0; t < AHEAD; t++) {
        if (t < turns)
            load(t);
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    state a, b;
    clear(a);
    clear(b);
    const int row = warp * 16 + lane / 4, column = lane % 4 * 2;
    const uint64_t qa = descriptor(start), qb = descriptor(start + TILE_BYTES);
    for (int turn = 0; turn < turns; turn++) {
        asm volatile("cp.async.wait_group %0;" ::"n"(AHEAD - 1) : "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        const int tile = turn * 2 + group;
        const uint32_t stage = stages + (turn % STAGES) * STAGE_BYTES + group * 2 * TILE_BYTES;
        const uint64_t dk = descriptor(stage), dv = descriptor(stage + TILE_BYTES);
        const bool on = tile <= far, both = two && tile <= near;
        float sa[32], sb[32];
        uint32_t pa[16], pb[16];
        if (on) {
            asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
            for (int kk = 0; kk < D / 16; kk++)
                wgmma_scores(sa, qa + kk * 2, dk + kk * 2, kk);
            if (both) {
#pragma unroll
                for (int kk = 0; kk < D / 16; kk++)
                    wgmma_scores(sb, qb + kk * 2, dk + kk * 2, kk);
            }
            asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        }
        if (turn + AHEAD < turns)
            load(turn + AHEAD);
        asm volatile("cp.async.commit_group;" ::: "memory");
        if (on) {
            asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
            weigh(a, sa, pa, scale, tile == far, row, column);
            asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
            for (int kk = 0; kk < TILE / 16; kk++)
                wgmma_values(a.o, pa + kk * 4, dv + kk * (2048 >> 4));
            asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
            if (both) {
                weigh(b, sb, pb, scale, tile == near, row, column);
                asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
                for (int kk = 0; kk < TILE / 16; kk++)
                    wgmma_values(b.o, pb + kk * 4, dv + kk * (2048 >> 4));
                asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
                asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
                keep(pb, n);
            } else {
                asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
            }
            keep(pa, n);
        }
    }
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads();

    // The first group finishes the far queries, the second the near ones.
    float4 *given = reinterpret_cast<float4 *>(base + Q_BYTES) + tid % 128;
    if (group == 0)
        give(b, given);
    else
        give(a, given + 9 * 128);
    __syncthreads();
    __half *tile = reinterpret_cast<__half *>(base + Q_BYTES + 2 * 9 * 128 * 16) + (tid / 32) * 16 * (D + 8);
    if (group == 0)
        finish(a, given + 9 * 128, tile, out + head, far * TILE + warp * 16, n, scale, lane);
    else if (two)
        finish(b, given, tile, out + head, near * TILE + warp * 16, n, scale, lane);
}

__global__ void attention_plain(__half *out, const __half *q, const __half *k, const __half *v, int n, float scale)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const size_t head = (size_t)blockIdx.y * n * D;
    const __half *own = q + head + (size_t)i * D;
    float most = -INFINITY, sum = 0.0f, acc[D] = {0.0f};
    for (int j = 0; j < i + 1; j++) {
        float score = 0.0f;
        for (int d = 0; d < D; d++)
            score += __half2float(own[d]) * __half2float(k[head + (size_t)j * D + d]);
        score *= scale;
        const float top = fmaxf(most, score), back = expf(most - top), weight = expf(score - top);
        sum = sum * back + weight;
        for (int d = 0; d < D; d++)
            acc[d] = acc[d] * back + weight * __half2float(v[head + (size_t)j * D + d]);
        most = top;
    }
    for (int d = 0; d < D; d++)
        out[head + (size_t)i * D + d] = __float2half(acc[d] / sum);
}

extern "C" void attention(__half *out, const __half *q, const __half *k, const __half *v, int heads, int n,
                          cudaStream_t stream)
{
    const float scale = 1.0f / sqrtf((float)D);
    if (((uintptr_t)out | (uintptr_t)q | (uintptr_t)k | (uintptr_t)v) % 16 != 0) {
        attention_plain<<<dim3((n + 63) / 64, heads), 64, 0, stream>>>(out, q, k, v, n, scale);
        return;
    }
    cudaFuncSetAttribute(attention_wgmma, cudaFuncAttributeMaxDynamicSharedMemorySize, SMEM_BYTES);
    const int tiles = (n + TILE - 1) / TILE;
    attention_wgmma<<<dim3((tiles + 1) / 2, heads), THREADS, SMEM_BYTES, stream>>>(out, q, k, v, n,
                                                                                  scale * 1.44269504f);
}
