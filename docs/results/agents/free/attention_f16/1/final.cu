// softmax(q k^T / sqrt(numbers)) v with wgmma. A block does query tiles p and last - p of 64, so that all blocks have the
// same work; its four warpgroups take the key tiles in turn, each with copies of its own, and their parts are merged.
#include <cuda_fp16.h>
#include <stdint.h>

constexpr int D = 64, TILE = 64 * D * 2, GROUPS = 4, THREADS = GROUPS * 128;
constexpr int PITCH = 72 * 4, PART = 64 * PITCH;
constexpr int KV = 2 * TILE, RINGS = GROUPS * 4 * TILE, PARTS = GROUPS * PART, MARKS = GROUPS * 64 * 8;
constexpr int SMEM = 1024 + KV + RINGS + PARTS + MARKS;

// a tile of 64 rows of 128 bytes, swizzled, by COUNT threads; zeros past the end
template <int COUNT>
__device__ __forceinline__ void fetch(uint32_t to, const __half *p, int row0, int n, int t)
{
    const int q = t & 7;
#pragma unroll
    for (int i = 0; i < 512 / COUNT; i++) {
        const int r = (t >> 3) + i * (COUNT / 8), row = row0 + r;
        const bool in = row < n;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to + r * 128 + ((q ^ (r & 7)) << 4)),
                     "l"(p + (size_t)(in ? row : 0) * D + q * 8), "r"(in ? 16 : 0)
                     : "memory");
    }
}

__device__ __forceinline__ void commit()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

// this warpgroup's copies but the last two groups are there for all its threads
__device__ __forceinline__ void arrived(int group)
{
    asm volatile("cp.async.wait_group 2;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("bar.sync %0, 128;" ::"r"(group + 1) : "memory");
}

__device__ __forceinline__ uint64_t describe(uint32_t address)
{
    return (uint64_t)((address & 0x3FFFF) >> 4) | (uint64_t)(1024 >> 4) << 16 | (uint64_t)(1024 >> 4) << 32 |
           (uint64_t)1 << 62;
}

// d (+)= a (64 x 16 in shared memory) b^T (64 x 16)
__device__ __forceinline__ void scores(float (&d)[32], uint64_t a, uint64_t b, int more)
{
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
        "%32, %33, p, 1, 1, 0, 0;\n}"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
          "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
          "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
          "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
        : "l"(a), "l"(b), "r"(more));
}

// d += a (64 x 16 in registers) b (16 x 64)
__device__ __forceinline__ void weigh(float (&d)[32], const uint32_t (&a)[4], uint64_t b)
{
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
        "{%32, %33, %34, %35}, %36, 1, 1, 1, 1;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
          "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
          "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
          "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

__device__ __forceinline__ float power(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

__global__ void __launch_bounds__(THREADS, 1)
    attention_kernel(__half *__restrict__ out, const __half *__restrict__ q, const __half *__restrict__ k,
                     const __half *__restrict__ v, int n, float scale)
{
    extern __shared__ uint8_t raw[];
    const uint32_t base = ((uint32_t)__cvta_generic_to_shared(raw) + 1023) & ~1023u;
    const uint32_t parts = base + KV + RINGS, marks = parts + PARTS;
    const int tid = threadIdx.x, group = tid >> 7, t = tid & 127, lane = tid & 31, warp = t >> 5;
    const uint32_t ring = base + KV + group * 4 * TILE;
    const size_t head = (size_t)blockIdx.y * n * D;
    const __half *kh = k + head, *vh = v + head;
    const int tiles = (n + 63) / 64;
    const int big = tiles - 1 - (int)blockIdx.x, small = blockIdx.x;
    const int more = big == small ? 0 : small >= group ? (small - group) / GROUPS + 1 : 0;
    const int mine = big >= group ? (big - group) / GROUPS + 1 : 0, total = mine + more;
    const float factor = scale * 1.44269504f;

    // the key tile of this warpgroup's unit u: those of the big query tile first, downwards; the small one's go upwards
    // and begin with the two tiles that are still there
    auto place = [&](int u) { return ((u < mine ? mine - 1 - u : u - mine) * GROUPS + group) * 64; };
    auto where = [&](int u) { return ring + ((u < mine ? u : u - 1) & 1) * 2 * TILE; };
    auto get = [&](const __half *p, int which, int u) {
        if (u < total && (u < mine || u > mine + 1))
            fetch<128>(where(u) + which * TILE, p, place(u), n, t);
        commit();
    };

    fetch<THREADS>(base, q + head, big * 64, n, tid);
    if (small != big)
        fetch<THREADS>(base + TILE, q + head, small * 64, n, tid);
    get(kh, 0, 0);
    get(vh, 1, 0);
    get(kh, 0, 1);
    asm volatile("cp.async.wait_group 2;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();

    int u = 0;
    for (int half = 0; half < (big == small ? 1 : 2); half++) {
        const int tile = half ? small : big, end = half ? total : mine;
        const uint64_t dq = describe(base + half * TILE);
        float most[2] = {-INFINITY, -INFINITY}, sum[2] = {0.0f, 0.0f}, acc[32];
#pragma unroll
        for (int i = 0; i < 32; i++)
            acc[i] = 0.0f;
        for (; u < end; u++) {
            const uint32_t slot = where(u);
            arrived(group);
            get(vh, 1, u + 1);
            float s[32];
            const uint64_t dk = describe(slot);
#pragma unroll
            for (int i = 0; i < 32; i++)
                s[i] = 0.0f;
            asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
            for (int i = 0; i < 4; i++)
                scores(s, dq + i * 2, dk + i * 2, i);
            asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
            asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
            for (int i = 0; i < 32; i++)
                asm volatile("" : "+f"(s[i])::"memory");

            if (place(u) == tile * 64) {
                const int r = warp * 16 + (lane >> 2), c = (lane & 3) * 2;
#pragma unroll
                for (int j = 0; j < 8; j++)
#pragma unroll
                    for (int e = 0; e < 4; e++)
                        if (j * 8 + c + (e & 1) > r + (e >> 1) * 8)
                            s[j * 4 + e] = -INFINITY;
            }
            float back[2], shift[2];
#pragma unroll
            for (int h = 0; h < 2; h++) {
                float top = fmaxf(s[2 * h], s[2 * h + 1]);
#pragma unroll
                for (int j = 1; j < 8; j++)
                    top = fmaxf(top, fmaxf(s[4 * j + 2 * h], s[4 * j + 2 * h + 1]));
                top = fmaxf(top, __shfl_xor_sync(~0u, top, 1));
                top = fmaxf(top, __shfl_xor_sync(~0u, top, 2));
                top = fmaxf(top, most[h]);
                back[h] = power((most[h] - top) * factor);
                shift[h] = top * factor;
                most[h] = top;
                sum[h] *= back[h];
            }
            // one fused operation where the product's rounding is small, else the difference first
            if (fmaxf(fabsf(shift[0]), fabsf(shift[1])) < 512.0f) {
#pragma unroll
                for (int i = 0; i < 32; i++)
                    s[i] = power(fmaf(s[i], factor, -shift[(i >> 1) & 1]));
            } else {
#pragma unroll
                for (int i = 0; i < 32; i++)
                    s[i] = power((s[i] - most[(i >> 1) & 1]) * factor);
            }
            uint32_t w[4][4];
#pragma unroll
            for (int j = 0; j < 8; j++) {
#pragma unroll
                for (int h = 0; h < 2; h++) {
                    const float x = s[4 * j + 2 * h], y = s[4 * j + 2 * h + 1];
                    sum[h] += x + y;
                    const __half2 xy = __floats2half2_rn(x, y);
                    w[j >> 1][(j & 1) * 2 + h] = *(const uint32_t *)&xy;
                    acc[4 * j + 2 * h] *= back[h];
                    acc[4 * j + 2 * h + 1] *= back[h];
                }
            }
            arrived(group);
            get(kh, 0, u + 2);
            const uint64_t dv = describe(slot + TILE);
            asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
            for (int i = 0; i < 4; i++)
                weigh(acc, w[i], dv + i * 128);
            asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
            asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
            for (int i = 0; i < 32; i++)
                asm volatile("" : "+f"(acc[i])::"memory");
        }

        // merge the four parts
        const int r = warp * 16 + (lane >> 2);
        float weight[2];
#pragma unroll
        for (int h = 0; h < 2; h++) {
            sum[h] += __shfl_xor_sync(~0u, sum[h], 1);
            sum[h] += __shfl_xor_sync(~0u, sum[h], 2);
            if ((lane & 3) == 0)
                asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(marks + (group * 64 + r + h * 8) * 8),
                             "f"(most[h]), "f"(sum[h])
                             : "memory");
        }
        __syncthreads();
#pragma unroll
        for (int h = 0; h < 2; h++) {
            float m[GROUPS], l[GROUPS], top = -INFINITY, whole = 0.0f;
#pragma unroll
            for (int g = 0; g < GROUPS; g++) {
                asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];"
                             : "=f"(m[g]), "=f"(l[g])
                             : "r"(marks + (g * 64 + r + h * 8) * 8)
                             : "memory");
                top = fmaxf(top, m[g]);
            }
#pragma unroll
            for (int g = 0; g < GROUPS; g++)
                whole += l[g] * power((m[g] - top) * factor);
            weight[h] = power((most[h] - top) * factor) / whole;
        }
        const uint32_t to = parts + group * PART + r * PITCH + (lane & 3) * 8;
#pragma unroll
        for (int j = 0; j < 8; j++)
#pragma unroll
            for (int h = 0; h < 2; h++)
                asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(to + h * 8 * PITCH + j * 32),
                             "f"(acc[4 * j + 2 * h] * weight[h]), "f"(acc[4 * j + 2 * h + 1] * weight[h])
                             : "memory");
        __syncthreads();
        const int row = tid >> 3, at = tid & 7;
        float o[8] = {0.0f};
#pragma unroll
        for (int g = 0; g < GROUPS; g++)
#pragma unroll
            for (int x = 0; x < 2; x++) {
                float f[4];
                asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                             : "=f"(f[0]), "=f"(f[1]), "=f"(f[2]), "=f"(f[3])
                             : "r"(parts + g * PART + row * PITCH + x * 128 + at * 16)
                             : "memory");
#pragma unroll
                for (int e = 0; e < 4; e++)
                    o[x * 4 + e] += f[e];
            }
        if (tile * 64 + row < n) {
            __half2 h[4];
#pragma unroll
            for (int e = 0; e < 4; e++)
                h[e] = __floats2half2_rn(o[2 * e], o[2 * e + 1]);
            __half *to = out + head + (size_t)(tile * 64 + row) * D + at * 4;
            *(uint2 *)to = make_uint2(*(const uint32_t *)&h[0], *(const uint32_t *)&h[1]);
            *(uint2 *)(to + 32) = make_uint2(*(const uint32_t *)&h[2], *(const uint32_t *)&h[3]);
        }
    }
    asm volatile("cp.async.wait_group 0;" ::: "memory");
}

extern "C" void attention(__half *out, const __half *q, const __half *k, const __half *v, int heads, int n,
                          cudaStream_t stream)
{
    const int tiles = (n + 63) / 64;
    cudaFuncSetAttribute(attention_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SMEM);
    attention_kernel<<<dim3((tiles + 1) / 2, heads), THREADS, SMEM, stream>>>(out, q, k, v, n,
                                                                            1.0f / sqrtf((float)D));
}
