// c = a b by wgmma: a cluster of two blocks a tile of 128 x 128, each over half of k, fetched by cp.async through a ring
// of stages; at the end each block gives the other the partial results of 64 rows and stores the other 64.
#include <cstdint>
#include <cuda_fp16.h>

constexpr int BM = 128, BN = 128, BK = 64, STAGES = 5, WARPS = 8, THREADS = WARPS * 32, AHEAD = STAGES - 2;
constexpr int A_BYTES = BM * BK * 2, PANEL_BYTES = BK * 64 * 2, STAGE_BYTES = A_BYTES + 2 * PANEL_BYTES;
constexpr int GIVEN_BYTES = 64 * BN * 4, SMEM_BYTES = STAGES * STAGE_BYTES + GIVEN_BYTES + 1024;

// Rows of 128 bytes in swizzled atoms of 8 rows, 1024 bytes from atom to atom; `panel` bytes from 64 columns of b to
// the next.
__device__ __forceinline__ uint64_t descriptor(uint32_t address, uint32_t panel)
{
    return (uint64_t)(address >> 4 & 0x3fff) | (uint64_t)(panel >> 4) << 16 | (uint64_t)(1024 >> 4) << 32 |
           (uint64_t)1 << 62;
}

__device__ __forceinline__ void wgmma(float (&d)[64], uint64_t a, uint64_t b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, 1, 1, 1, 0, 1;\n"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
                 : "l"(a), "l"(b)
                 : "memory");
}

__device__ __forceinline__ void copy16(uint32_t to, const void *from, bool live)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(live ? 16 : 0) : "memory");
}

__global__ void __launch_bounds__(THREADS)
    product_halves(__half *__restrict__ c, const __half *__restrict__ a, const __half *__restrict__ b, int m, int n,
                   int k)
{
    extern __shared__ unsigned char raw[];
    const uint32_t start = ((uint32_t)__cvta_generic_to_shared(raw) + 1023) & ~1023u;
    unsigned char *base = raw + (start - (uint32_t)__cvta_generic_to_shared(raw));
    const uint32_t given = start + STAGES * STAGE_BYTES;
    const int tid = threadIdx.x, warp = tid / 32, lane = tid % 32, group = tid / 128;
    const int half = blockIdx.x % 2;
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x / 2 * BN;
    const int all = (k + BK - 1) / BK, first = half == 0 ? 0 : (all + 1) / 2;
    const int steps = half == 0 ? (all + 1) / 2 : all / 2;

    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory"); // both have begun, when waited for
    const int chunk = tid % 8, line = tid / 8; // 32 lines of eight chunks a turn
    const uint32_t to = line * 128 + ((chunk ^ (line & 7)) << 4);
    const __half *from_a = a + (int64_t)(row0 + line) * k + chunk * 8;
    const __half *from_b = b + (int64_t)line * n + col0 + chunk * 8;

    auto load = [&](int step) {
        const uint32_t stage = start + (step % STAGES) * STAGE_BYTES;
        const int k0 = (first + step) * BK;
        const bool k_live = k0 + chunk * 8 < k;
#pragma unroll
        for (int t = 0; t < BM / 32; t++) {
            const bool live = k_live && row0 + line + t * 32 < m;
            copy16(stage + to + t * 32 * 128, live ? from_a + (int64_t)t * 32 * k + k0 : a, live);
        }
#pragma unroll
        for (int t = 0; t < BK / 32; t++)
#pragma unroll
            for (int p = 0; p < 2; p++) {
                const bool live = col0 + p * 64 + chunk * 8 < n && k0 + line + t * 32 < k;
                copy16(stage + A_BYTES + p * PANEL_BYTES + to + t * 32 * 128,
                       live ? from_b + (int64_t)(k0 + t * 32) * n + p * 64 : b, live);
            }
    };

    float d[64];
#pragma unroll
    for (int i = 0; i < 64; i++)
        d[i] = 0.0f;

#pragma unroll
    for (int s = 0; s < AHEAD; s++) {
        if (s < steps)
            load(s);
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    for (int step = 0; step < steps; step++) {
        asm volatile("cp.async.wait_group %0;" ::"n"(AHEAD - 1) : "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        const uint32_t stage = start + (step % STAGES) * STAGE_BYTES;
        const uint64_t da = descriptor(stage + group * 64 * 128, 16);
        const uint64_t db = descriptor(stage + A_BYTES, PANEL_BYTES);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int kk = 0; kk < BK / 16; kk++)
            wgmma(d, da + kk * (32 >> 4), db + kk * (2048 >> 4));
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        if (step + AHEAD < steps)
            load(step + AHEAD); // into the stage of step - 2, which every warp has waited for
        asm volatile("cp.async.commit_group;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");

    if (group != half) {
        uint32_t to;
        asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(given + tid % 128 * 16), "r"(half ^ 1));
#pragma unroll
        for (int j = 0; j < 16; j++)
            asm volatile("st.shared::cluster.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(to + j * 128 * 16), "f"(d[4 * j]),
                         "f"(d[4 * j + 1]), "f"(d[4 * j + 2]), "f"(d[4 * j + 3])
                         : "memory");
    }
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");

    if (group == half) {
        constexpr int PITCH = BN + 8;
        __half *tile = reinterpret_cast<__half *>(base) + (warp % 4) * 16 * PITCH;
        const float4 *other = reinterpret_cast<const float4 *>(base + STAGES * STAGE_BYTES) + tid % 128;
        const int r = lane / 4, q = lane % 4 * 2;
#pragma unroll
        for (int j = 0; j < 16; j++) {
            const float4 o = other[j * 128];
            *reinterpret_cast<__half2 *>(tile + r * PITCH + j * 8 + q) =
                __floats2half2_rn(d[4 * j] + o.x, d[4 * j + 1] + o.y);
            *reinterpret_cast<__half2 *>(tile + (r + 8) * PITCH + j * 8 + q) =
                __floats2half2_rn(d[4 * j + 2] + o.z, d[4 * j + 3] + o.w);
        }
        __syncwarp(); // a warp stores the 16 rows that are its own
#pragma unroll
        for (int t = 0; t < 8; t++) {
            const int row = t * 2 + lane / 16, chunk = lane % 16, at = row0 + warp * 16 + row;
            if (at < m && col0 + chunk * 8 < n)
                *reinterpret_cast<uint4 *>(c + (int64_t)at * n + col0 + chunk * 8) =
                    *reinterpret_cast<const uint4 *>(tile + row * PITCH + chunk * 8);
        }
    }
}

__global__ void __launch_bounds__(256)
    product_plain(__half *__restrict__ c, const __half *__restrict__ a, const __half *__restrict__ b, int m, int n,
                  int k)
{
    __shared__ float ta[32][33], tb[32][33];
    const int tx = threadIdx.x % 32, ty = threadIdx.x / 32;
    const int col = blockIdx.x * 32 + tx, row0 = blockIdx.y * 32;
    float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int k0 = 0; k0 < k; k0 += 32) {
#pragma unroll
        for (int t = 0; t < 4; t++) {
            const int row = row0 + ty + t * 8, kr = k0 + ty + t * 8;
            ta[ty + t * 8][tx] = row < m && k0 + tx < k ? __half2float(a[(int64_t)row * k + k0 + tx]) : 0.0f;
            tb[ty + t * 8][tx] = kr < k && col < n ? __half2float(b[(int64_t)kr * n + col]) : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 32; i++)
#pragma unroll
            for (int t = 0; t < 4; t++)
                sum[t] += ta[ty + t * 8][i] * tb[i][tx];
        __syncthreads();
    }
#pragma unroll
    for (int t = 0; t < 4; t++)
        if (row0 + ty + t * 8 < m && col < n)
            c[(int64_t)(row0 + ty + t * 8) * n + col] = __float2half(sum[t]);
}

static bool launch_halves(__half *c, const __half *a, const __half *b, int m, int n, int k, cudaStream_t stream)
{
    cudaFuncSetAttribute(product_halves, cudaFuncAttributeMaxDynamicSharedMemorySize, SMEM_BYTES);
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((n + BN - 1) / BN * 2, (m + BM - 1) / BM);
    config.blockDim = dim3(THREADS);
    config.dynamicSmemBytes = SMEM_BYTES;
    config.stream = stream;
    cudaLaunchAttribute attribute[1];
    attribute[0].id = cudaLaunchAttributeClusterDimension;
    attribute[0].val.clusterDim.x = 2;
    attribute[0].val.clusterDim.y = 1;
    attribute[0].val.clusterDim.z = 1;
    config.attrs = attribute;
    config.numAttrs = 1;
    return cudaLaunchKernelEx(&config, product_halves, c, a, b, m, n, k) == cudaSuccess;
}

extern "C" void product(__half *c, const __half *a, const __half *b, int m, int n, int k, cudaStream_t stream)
{
    if (n % 8 == 0 && k % 8 == 0 && ((uintptr_t)a | (uintptr_t)b | (uintptr_t)c) % 16 == 0 &&
        launch_halves(c, a, b, m, n, k, stream))
        return;
    const dim3 grid((n + 31) / 32, (m + 31) / 32);
    product_plain<<<grid, 256, 0, stream>>>(c, a, b, m, n, k);
}
