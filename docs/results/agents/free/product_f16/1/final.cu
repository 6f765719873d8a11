// c = a b with wgmma: a cluster of SPLIT blocks shares a BM x 128 tile of c, each takes a part of k; the parts meet in
// distributed shared memory. Larger tiles read the inputs fewer times through the L2.
#include <cuda_fp16.h>
#include <stdint.h>

constexpr int BM = 128, SPLIT = 2, BN = 128, BK = 64, STAGES = 6, AHEAD = STAGES - 1;
constexpr int GROUPS = BM / 64, THREADS = GROUPS * 128;
static_assert(GROUPS == SPLIT, "a warpgroup's 64 rows belong to one block of the cluster");
constexpr int A_BYTES = BM * BK * 2, B_BYTES = BK * BN * 2, STAGE = A_BYTES + B_BYTES;
constexpr int SMEM = STAGES * STAGE + 1024, PART = 64 * BN * 4, PITCH = BN * 2 + 16;
static_assert(SPLIT * PART + 64 * PITCH <= STAGES * STAGE, "the parts fit where the tiles were");

__device__ __forceinline__ void copy16(uint32_t to, const void *from, int bytes)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}

// one 16-byte chunk: row, first column; zeros outside
template <bool WIDE>
__device__ __forceinline__ void chunk(uint32_t to, const __half *p, int row, int col, int rows, int cols)
{
    if (WIDE) {
        const bool in = row < rows && col < cols;
        copy16(to, in ? p + (size_t)row * cols + col : p, in ? 16 : 0);
    } else {
        uint32_t w[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            uint32_t lo = 0, hi = 0;
            if (row < rows && col + 2 * i < cols)
                lo = __half_as_ushort(p[(size_t)row * cols + col + 2 * i]);
            if (row < rows && col + 2 * i + 1 < cols)
                hi = __half_as_ushort(p[(size_t)row * cols + col + 2 * i + 1]);
            w[i] = lo | hi << 16;
        }
        asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3])
                     : "memory");
    }
}

__device__ __forceinline__ uint64_t describe(uint32_t address, uint32_t leading)
{
    return (uint64_t)((address & 0x3FFFF) >> 4) | (uint64_t)(leading >> 4) << 16 | (uint64_t)(1024 >> 4) << 32 |
           (uint64_t)1 << 62;
}

// d += a (64 x 16, k contiguous) b (16 x 128, n contiguous)
__device__ __forceinline__ void wgmma(float (&d)[64], uint64_t a, uint64_t b)
{
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
        "%64, %65, 1, 1, 1, 0, 1;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
          "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
          "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
          "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]),
          "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]),
          "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]),
          "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
          "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
        : "l"(a), "l"(b));
}

__device__ __forceinline__ void together()
{
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

template <bool WIDE>
__global__ void __cluster_dims__(1, 1, SPLIT) __launch_bounds__(THREADS, 1)
    product_kernel(__half *__restrict__ c, const __half *__restrict__ a, const __half *__restrict__ b, int m, int n, int k)
{
    extern __shared__ uint8_t raw[];
    const uint32_t base = ((uint32_t)__cvta_generic_to_shared(raw) + 1023) & ~1023u;
    const int tid = threadIdx.x, group = tid >> 7, rank = blockIdx.z;
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    const int all = (k + BK - 1) / BK, each = (all + SPLIT - 1) / SPLIT;
    const int first = min(rank * each, all), steps = min(each, all - first);
    const int ar = tid >> 3, aq = tid & 7, br = tid >> 4, bq = tid & 15;
    const uint32_t aplace = ar * 128 + ((aq ^ (ar & 7)) << 4);
    const uint32_t bplace = A_BYTES + (bq >> 3) * (BK * 128) + br * 128 + (((bq & 7) ^ (br & 7)) << 4);

    auto load = [&](int t) {
        if (t < steps) {
            const uint32_t s = base + (t % STAGES) * STAGE;
            const int k0 = (first + t) * BK;
#pragma unroll
            for (int i = 0; i < BM * 8 / THREADS; i++)
                chunk<WIDE>(s + aplace + i * (THREADS / 8) * 128, a, row0 + ar + i * (THREADS / 8), k0 + aq * 8, m, k);
#pragma unroll
            for (int i = 0; i < BK * 16 / THREADS; i++)
                chunk<WIDE>(s + bplace + i * (THREADS / 16) * 128, b, k0 + br + i * (THREADS / 16), col0 + bq * 8, k, n);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };

    float d[64];
#pragma unroll
    for (int i = 0; i < 64; i++)
        d[i] = 0.0f;
#pragma unroll
    for (int t = 0; t < AHEAD; t++)
        load(t);
    for (int t = 0; t < steps; t++) {
        asm volatile("cp.async.wait_group %0;" ::"n"(AHEAD - 1) : "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        load(t + AHEAD);
        const uint32_t s = base + (t % STAGES) * STAGE;
        const uint64_t da = describe(s + group * 8192, 1024), db = describe(s + A_BYTES, BK * 128);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int i = 0; i < BK / 16; i++)
            wgmma(d, da + i * 2, db + i * 128);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    }
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    together();

    // the 64 rows of warpgroup g are summed by block g of the cluster
    const int t = tid & 127;
    uint32_t far;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(far) : "r"(base + rank * PART + t * 16), "r"(group));
#pragma unroll
    for (int i = 0; i < 16; i++)
        asm volatile("st.shared::cluster.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(far + i * 2048), "f"(d[4 * i]),
                     "f"(d[4 * i + 1]), "f"(d[4 * i + 2]), "f"(d[4 * i + 3])
                     : "memory");
    together();

    constexpr int OWN = 16 / GROUPS;    // eights of columns a warpgroup sums
    const uint32_t near = base + t * 16 + group * OWN * 2048, tile = base + SPLIT * PART;
    const int lane = tid & 31, warp = t >> 5;
    const uint32_t to = tile + (warp * 16 + (lane >> 2)) * PITCH + group * OWN * 16 + (lane & 3) * 4;
#pragma unroll
    for (int i = 0; i < OWN; i++) {
        float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll
        for (int p = 0; p < SPLIT; p++) {
            float v[4];
            asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                         : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3])
                         : "r"(near + p * PART + i * 2048)
                         : "memory");
#pragma unroll
            for (int e = 0; e < 4; e++)
                sum[e] += v[e];
        }
        const __half2 x = __floats2half2_rn(sum[0], sum[1]), y = __floats2half2_rn(sum[2], sum[3]);
        asm volatile("st.shared.b32 [%0], %1;" ::"r"(to + i * 16), "r"(*(const uint32_t *)&x) : "memory");
        asm volatile("st.shared.b32 [%0], %1;" ::"r"(to + 8 * PITCH + i * 16), "r"(*(const uint32_t *)&y) : "memory");
    }
    __syncwarp();
    constexpr int ROWS = 32 / OWN;    // rows a warp stores at once
#pragma unroll
    for (int i = 0; i < 16 / ROWS; i++) {
        const int lr = warp * 16 + i * ROWS + lane / OWN, at = group * OWN + lane % OWN;
        const int row = row0 + rank * 64 + lr, col = col0 + at * 8;
        uint32_t w[4];
        asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])
                     : "r"(tile + lr * PITCH + at * 16)
                     : "memory");
        if (row < m && col < n) {
            if (WIDE) {
                *(uint4 *)(c + (size_t)row * n + col) = make_uint4(w[0], w[1], w[2], w[3]);
            } else {
#pragma unroll
                for (int e = 0; e < 8; e++)
                    if (col + e < n)
                        c[(size_t)row * n + col + e] = __ushort_as_half((unsigned short)(w[e / 2] >> (e % 2 * 16)));
            }
        }
    }
}

extern "C" void product(__half *c, const __half *a, const __half *b, int m, int n, int k, cudaStream_t stream)
{
    dim3 grid((n + BN - 1) / BN, (m + BM - 1) / BM, SPLIT);
    const bool wide = n % 8 == 0 && k % 8 == 0 && (((uintptr_t)a | (uintptr_t)b | (uintptr_t)c) & 15) == 0;
    if (wide) {
        cudaFuncSetAttribute(product_kernel<true>, cudaFuncAttributeMaxDynamicSharedMemorySize, SMEM);
        product_kernel<true><<<grid, THREADS, SMEM, stream>>>(c, a, b, m, n, k);
    } else {
        cudaFuncSetAttribute(product_kernel<false>, cudaFuncAttributeMaxDynamicSharedMemorySize, SMEM);
        product_kernel<false><<<grid, THREADS, SMEM, stream>>>(c, a, b, m, n, k);
    }
}
