// softmax(q k^T / sqrt(numbers)) v, causal, on the tensor cores. A cluster of two blocks takes two tiles of 128 queries, a
// heavy and a light one, and shares the keys of the heavy one so that both have as much to do. In a block, two warp groups
// have 64 queries each of even turns of 64 keys, two of odd ones; what they have is merged in shared memory.
#include <cstdint>
#include <cuda_fp16.h>

constexpr int D = 64;
constexpr int TQ = 128, TK = 64;
constexpr int THREADS = 512;
constexpr int STAGES = 3;
constexpr int TILE_BYTES = 64 * D * 2;
constexpr int UNIT_BYTES = 2 * TILE_BYTES;   // keys, then values
constexpr int STAGE_BYTES = 2 * UNIT_BYTES;  // an even turn, then an odd one
constexpr int QUERY_BYTES = TQ * D * 2;
constexpr int STATE_BYTES = 20 * THREADS * 4; // sixteen sums, two maxima, two sums of weights a thread
constexpr int EXCHANGE = 2 * QUERY_BYTES + STAGES * STAGE_BYTES, RECEIVED = EXCHANGE + STATE_BYTES;
constexpr int SMEM_BYTES = RECEIVED + STATE_BYTES + 1024;
constexpr float NONE = -1e30f;

// Sixteen bytes, or zeros where there is nothing to copy.
__device__ __forceinline__ void copy16(uint32_t to, const void *from, bool there)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(there ? 16 : 0) : "memory");
}

// A tile of rows of 128 bytes, the sixteen-byte pieces swizzled within eight rows.
__device__ __forceinline__ uint64_t descriptor(uint32_t address)
{
    return (uint64_t)(address >> 4 & 0x3fff) | (uint64_t)(1024 >> 4) << 16 | (uint64_t)(1024 >> 4) << 32 |
           (uint64_t)1 << 62;
}

// acc = a b, or + acc; both by rows of the depth.
__device__ __forceinline__ void multiply_shared(float (&acc)[32], uint64_t a, uint64_t b, int add)
{
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, p, 1, 1, 0, 0;\n}"
                 : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3]), "+f"(acc[4]), "+f"(acc[5]), "+f"(acc[6]), "+f"(acc[7]), "+f"(acc[8]), "+f"(acc[9]), "+f"(acc[10]), "+f"(acc[11]), "+f"(acc[12]), "+f"(acc[13]), "+f"(acc[14]), "+f"(acc[15]), "+f"(acc[16]), "+f"(acc[17]), "+f"(acc[18]), "+f"(acc[19]), "+f"(acc[20]), "+f"(acc[21]), "+f"(acc[22]), "+f"(acc[23]), "+f"(acc[24]), "+f"(acc[25]), "+f"(acc[26]), "+f"(acc[27]), "+f"(acc[28]), "+f"(acc[29]), "+f"(acc[30]), "+f"(acc[31])
                 : "l"(a), "l"(b), "r"(add));
}

// acc += a b; b by columns of the depth.
__device__ __forceinline__ void multiply_registers(float (&acc)[32], const uint32_t (&a)[4], uint64_t b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, {%32, %33, %34, %35}, %36, 1, 1, 1, 1;"
                 : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3]), "+f"(acc[4]), "+f"(acc[5]), "+f"(acc[6]), "+f"(acc[7]), "+f"(acc[8]), "+f"(acc[9]), "+f"(acc[10]), "+f"(acc[11]), "+f"(acc[12]), "+f"(acc[13]), "+f"(acc[14]), "+f"(acc[15]), "+f"(acc[16]), "+f"(acc[17]), "+f"(acc[18]), "+f"(acc[19]), "+f"(acc[20]), "+f"(acc[21]), "+f"(acc[22]), "+f"(acc[23]), "+f"(acc[24]), "+f"(acc[25]), "+f"(acc[26]), "+f"(acc[27]), "+f"(acc[28]), "+f"(acc[29]), "+f"(acc[30]), "+f"(acc[31])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

__device__ __forceinline__ void hold(float (&acc)[32])
{
#pragma unroll
    for (int i = 0; i < 32; i++)
        asm volatile("" : "+f"(acc[i])::"memory");
}

__device__ __forceinline__ float power2(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(THREADS, 1)
    attention_kernel(__half *__restrict__ out, const __half *__restrict__ q, const __half *__restrict__ k,
                     const __half *__restrict__ v, int pairs, int n, float scale)
{
    extern __shared__ __align__(1024) unsigned char raw[];
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
    const uint32_t start = (uint32_t)__cvta_generic_to_shared(raw);
    const uint32_t smem = (start + 1023) & ~1023u;
    unsigned char *smem_at = raw + (smem - start);
    const int tid = threadIdx.x, group = tid / 128, mine = tid % 128, lane = tid % 32, warp = mine / 32;
    const int odd = group / 2, rows = group % 2; // which turns, which queries

    const int rank = blockIdx.x & 1, pair = blockIdx.x / 2, head = pair / pairs, light = pair - head * pairs;
    const int count = (n + TQ - 1) / TQ, all_keys = (n + TK - 1) / TK;
    const int heavy = count - 1 - light;
    const int heavy_units = min(2 * heavy + 2, all_keys), light_units = light < heavy ? 2 * light + 2 : 0;
    const int first = min((heavy_units + light_units + 1) / 2, heavy_units); // of the heavy tile, for rank 0
    const int64_t offset = (int64_t)head * n * D;
    // Part 0: some of the heavy tile's units; part 1: the light tile's, rank 1 only.
    const int from0 = rank ? first : 0, to0 = rank ? heavy_units : first, to1 = rank ? light_units : 0;
    const int turns0 = (to0 - from0 + 1) / 2, turns = turns0 + (to1 + 1) / 2;

    const int of_two = tid % 256, piece = of_two % 8, line = of_two / 8; // 32 lines a step
    const uint32_t place = line * 128 + ((piece ^ (line & 7)) << 4);
    const uint32_t stages = smem + 2 * QUERY_BYTES + odd * UNIT_BYTES;
    auto load = [&](int turn) {
        const int unit = turn < turns0 ? from0 + 2 * turn + odd : 2 * (turn - turns0) + odd;
        if (turn < turns && unit < (turn < turns0 ? to0 : to1)) {
            const uint32_t to = stages + turn % STAGES * STAGE_BYTES + place;
#pragma unroll
            for (int j = 0; j < 2; j++) {
                const int key = unit * TK + line + j * 32;
                const bool there = key < n;
                const int64_t from = offset + (int64_t)(there ? key : 0) * D + piece * 8;
                copy16(to + j * 32 * 128, k + from, there);
                copy16(to + TILE_BYTES + j * 32 * 128, v + from, there);
            }
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
#pragma unroll
    for (int part = 0; part < 2; part++) {
        if (part == 0 || to1 > 0) {
#pragma unroll
            for (int j = 0; j < 2; j++) {
                const int l = line + odd * 32 + j * 64, query = (part ? light : heavy) * TQ + l;
                const bool there = query < n;
                copy16(smem + part * QUERY_BYTES + l * 128 + ((piece ^ (l & 7)) << 4),
                       q + offset + (int64_t)(there ? query : 0) * D + piece * 8, there);
            }
        }
    }
    load(0);
    load(1);

    const float factor = scale * 1.4426950408889634f;
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    if (rank == 0) // which has nothing to tell
        asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();

    int turn = 0;
#pragma unroll 1
    for (int part = 0; part < 2; part++) {
        if (part == 1 && to1 == 0)
            break;
        const int tile = part ? light : heavy;
        const int to_unit = part ? to1 : to0, last = part ? turns : turns0;
        int unit = (part ? 0 : from0) + odd;
        const int own = 2 * tile + rows; // the unit on the diagonal
        const uint64_t dq = descriptor(smem + part * QUERY_BYTES + rows * TILE_BYTES);
        float o[32], s[32];
        float most[2] = {NONE, NONE}, sum[2] = {0.0f, 0.0f};
#pragma unroll
        for (int i = 0; i < 32; i++)
            o[i] = s[i] = 0.0f;
#pragma unroll 1
        for (; turn < last; turn++, unit += 2) {
            if (turn > 0) {
                asm volatile("cp.async.wait_group 1;" ::: "memory");
                asm volatile("fence.proxy.async;" ::: "memory");
                asm volatile("bar.sync %0, 256;" ::"r"(1 + odd) : "memory");
            }
            const uint32_t stage = stages + turn % STAGES * STAGE_BYTES;
            if (unit >= to_unit || unit > own) {
                load(turn + 2);
                continue;
            }
        const uint64_t dk = descriptor(stage), dv = descriptor(stage + TILE_BYTES);
        hold(s);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int d = 0; d < D / 16; d++)
            multiply_shared(s, dq + d * 2, dk + d * 2, d > 0);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        load(turn + 2);
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        hold(s);

        if (unit == own) { // the diagonal
            const int r = warp * 16 + lane / 4;
#pragma unroll
            for (int i = 0; i < 32; i++) {
                const int column = i / 4 * 8 + lane % 4 * 2 + i % 2, row = r + i % 4 / 2 * 8;
                if (column > row)
                    s[i] = -INFINITY;
            }
        }
        float top[2] = {most[0], most[1]};
#pragma unroll
        for (int i = 0; i < 32; i++)
            top[i % 4 / 2] = fmaxf(top[i % 4 / 2], s[i]);
#pragma unroll
        for (int h = 0; h < 2; h++) {
            top[h] = fmaxf(top[h], __shfl_xor_sync(0xffffffffu, top[h], 1));
            top[h] = fmaxf(top[h], __shfl_xor_sync(0xffffffffu, top[h], 2));
            const float back = power2((most[h] - top[h]) * factor);
            most[h] = top[h];
            sum[h] *= back;
#pragma unroll
            for (int i = 0; i < 8; i++) {
                o[4 * i + 2 * h] *= back;
                o[4 * i + 2 * h + 1] *= back;
            }
        }
        uint32_t p[4][4];
#pragma unroll
        for (int i = 0; i < 32; i += 2) {
            const int h = i % 4 / 2;
            const float x = power2((s[i] - top[h]) * factor), y = power2((s[i + 1] - top[h]) * factor);
            sum[h] += x + y;
            const __half2 both = __floats2half2_rn(x, y);
            p[i / 8][i % 8 / 2] = *reinterpret_cast<const uint32_t *>(&both);
        }
        hold(o);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int d = 0; d < TK / 16; d++)
            multiply_registers(o, p[d], dv + d * (2048 >> 4));
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        hold(o);
    }
        // Each group gives the half of the columns away that is not its own.
        __syncthreads();
        float *exchange = reinterpret_cast<float *>(smem_at + EXCHANGE);
        float *given = exchange + (group ^ 2) * (20 * 128) + mine, *taken = exchange + group * (20 * 128) + mine;
#pragma unroll
        for (int h = 0; h < 2; h++) {
            sum[h] += __shfl_xor_sync(0xffffffffu, sum[h], 1);
            sum[h] += __shfl_xor_sync(0xffffffffu, sum[h], 2);
        }
#pragma unroll
        for (int i = 0; i < 16; i++)
            given[i * 128] = odd ? o[i] : o[i + 16];
#pragma unroll
        for (int h = 0; h < 2; h++) {
            given[(16 + h) * 128] = most[h];
            given[(18 + h) * 128] = sum[h];
        }
        __syncthreads();
        float state[20];
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const float other = taken[(16 + h) * 128], others = taken[(18 + h) * 128];
            const float top = fmaxf(most[h], other);
            const float here = power2((most[h] - top) * factor), there = power2((other - top) * factor);
            state[16 + h] = top;
            state[18 + h] = sum[h] * here + others * there;
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const int at = 4 * i + 2 * h;
                state[at] = (odd ? o[at + 16] : o[at]) * here + taken[at * 128] * there;
                state[at + 1] = (odd ? o[at + 17] : o[at + 1]) * here + taken[(at + 1) * 128] * there;
            }
        }
        if (part == 0 && rank == 1) { // tell rank 0
            uint32_t to;
            asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(to) : "r"(smem + RECEIVED + tid * 16));
#pragma unroll
            for (int i = 0; i < 20; i += 4)
                asm volatile("st.shared::cluster.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(to + i / 4 * (THREADS * 16)),
                             "f"(state[i]), "f"(state[i + 1]), "f"(state[i + 2]), "f"(state[i + 3])
                             : "memory");
            asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
            continue;
        }
        float got[20];
#pragma unroll
        for (int i = 0; i < 20; i++)
            got[i] = i == 16 || i == 17 ? NONE : 0.0f;
        if (rank == 0) {
            asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
            const float4 *from = reinterpret_cast<const float4 *>(smem_at + RECEIVED) + tid;
#pragma unroll
            for (int i = 0; i < 20; i += 4) {
                const float4 f = from[i / 4 * THREADS];
                got[i] = f.x;
                got[i + 1] = f.y;
                got[i + 2] = f.z;
                got[i + 3] = f.w;
            }
        }
        const int row = tile * TQ + rows * 64 + warp * 16 + lane / 4;
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const float top = fmaxf(state[16 + h], got[16 + h]);
            float here = power2((state[16 + h] - top) * factor), there = power2((got[16 + h] - top) * factor);
            const float share = __fdividef(1.0f, state[18 + h] * here + got[18 + h] * there);
            here *= share;
            there *= share;
            if (row + 8 * h < n) {
                __half *to = out + offset + (int64_t)(row + 8 * h) * D + odd * 32 + lane % 4 * 2;
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    const int at = 4 * i + 2 * h;
                    *reinterpret_cast<__half2 *>(to + i * 8) =
                        __floats2half2_rn(state[at] * here + got[at] * there, state[at + 1] * here + got[at + 1] * there);
                }
            }
        }
    }
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    if (rank == 1)
        asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

extern "C" void attention(__half *out, const __half *q, const __half *k, const __half *v, int heads, int n,
                          cudaStream_t stream)
{
    const int count = (n + TQ - 1) / TQ, pairs = (count + 1) / 2;
    cudaFuncSetAttribute(attention_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SMEM_BYTES);
    attention_kernel<<<pairs * heads * 2, THREADS, SMEM_BYTES, stream>>>(out, q, k, v, pairs, n, 1.0f / sqrtf((float)D));
}
