// c = a b on the tensor cores: wgmma on tiles that cp.async stages in swizzled shared memory; a cluster of two blocks
// shares the depth of a tile and adds up through shared memory. One result a thread where rows are not on 16 bytes.
#include <cstdint>
#include <cuda_fp16.h>

constexpr int TM = 128, TN = 128, TK = 64; // the tile of a block
constexpr int SPLIT = 2;
constexpr int STAGES = 6;
constexpr int THREADS = 256;
constexpr int A_BYTES = TM * TK * 2, B_HALF = TK * 64 * 2, STAGE_BYTES = A_BYTES + 2 * B_HALF;
constexpr int GIVEN_BYTES = TM * 64 * 4;
constexpr int SMEM_BYTES = STAGES * STAGE_BYTES + GIVEN_BYTES + 1024;
constexpr int PITCH = 64 + 8; // halves between rows of the staged result

// Sixteen bytes, or zeros where there is nothing to copy.
__device__ __forceinline__ void copy16(uint32_t to, const void *from, bool there)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(there ? 16 : 0) : "memory");
}

// Rows of 128 bytes, the sixteen-byte pieces swizzled within eight rows; `chunk` bytes between halves of 64 columns.
__device__ __forceinline__ uint64_t descriptor(uint32_t address, uint32_t chunk)
{
    return (uint64_t)(address >> 4 & 0x3fff) | (uint64_t)(chunk >> 4) << 16 | (uint64_t)(1024 >> 4) << 32 |
           (uint64_t)1 << 62;
}

__device__ __forceinline__ void multiply(float (&acc)[64], uint64_t a, uint64_t b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, 1, 1, 1, 0, 1;"
                 : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3]), "+f"(acc[4]), "+f"(acc[5]), "+f"(acc[6]), "+f"(acc[7]), "+f"(acc[8]), "+f"(acc[9]), "+f"(acc[10]), "+f"(acc[11]), "+f"(acc[12]), "+f"(acc[13]), "+f"(acc[14]), "+f"(acc[15]), "+f"(acc[16]), "+f"(acc[17]), "+f"(acc[18]), "+f"(acc[19]), "+f"(acc[20]), "+f"(acc[21]), "+f"(acc[22]), "+f"(acc[23]), "+f"(acc[24]), "+f"(acc[25]), "+f"(acc[26]), "+f"(acc[27]), "+f"(acc[28]), "+f"(acc[29]), "+f"(acc[30]), "+f"(acc[31]), "+f"(acc[32]), "+f"(acc[33]), "+f"(acc[34]), "+f"(acc[35]), "+f"(acc[36]), "+f"(acc[37]), "+f"(acc[38]), "+f"(acc[39]), "+f"(acc[40]), "+f"(acc[41]), "+f"(acc[42]), "+f"(acc[43]), "+f"(acc[44]), "+f"(acc[45]), "+f"(acc[46]), "+f"(acc[47]), "+f"(acc[48]), "+f"(acc[49]), "+f"(acc[50]), "+f"(acc[51]), "+f"(acc[52]), "+f"(acc[53]), "+f"(acc[54]), "+f"(acc[55]), "+f"(acc[56]), "+f"(acc[57]), "+f"(acc[58]), "+f"(acc[59]), "+f"(acc[60]), "+f"(acc[61]), "+f"(acc[62]), "+f"(acc[63])
                 : "l"(a), "l"(b));
}

__global__ void __cluster_dims__(SPLIT, 1, 1) __launch_bounds__(THREADS, 1)
    product_tensor(__half *__restrict__ c, const __half *__restrict__ a, const __half *__restrict__ b, int m, int n,
                   int k)
{
    extern __shared__ __align__(1024) unsigned char raw[];
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
    const uint32_t start = (uint32_t)__cvta_generic_to_shared(raw);
    const uint32_t smem = (start + 1023) & ~1023u;
    unsigned char *smem_at = raw + (smem - start);
    const int tid = threadIdx.x, group = tid / 128, lane = tid % 32, warp = tid / 32;
    const int rank = blockIdx.x % SPLIT;
    const int row0 = blockIdx.y * TM, col0 = blockIdx.x / SPLIT * TN;
    const int all = (k + TK - 1) / TK, share = (all + SPLIT - 1) / SPLIT;
    const int first = rank * share, tiles = min(share, all - first); // may be none

    // Pieces of a: rows tid / 8 + 32 j; of b: rows tid / 16 + 16 j.
    const int a_piece = tid % 8, a_line = tid / 8, b_piece = tid % 16, b_line = tid / 16;
    const uint32_t a_place = a_line * 128 + ((a_piece ^ (a_line & 7)) << 4);
    const uint32_t b_place = A_BYTES + b_piece / 8 * B_HALF + b_line * 128 + ((b_piece % 8 ^ (b_line & 7)) << 4);
    const __half *a_from = a + (int64_t)(row0 + a_line) * k + a_piece * 8;
    const __half *b_from = b + (int64_t)b_line * n + col0 + b_piece * 8;
    const int64_t a_step = (int64_t)32 * k, b_step = (int64_t)16 * n;
    const bool b_there = col0 + b_piece * 8 < n;

    auto load = [&](int tile) {
        if (tile < tiles) {
            const int k0 = (first + tile) * TK;
            const uint32_t stage = smem + tile % STAGES * STAGE_BYTES;
            const __half *pa = a_from + k0, *pb = b_from + (int64_t)k0 * n;
            const bool a_there = k0 + a_piece * 8 < k;
#pragma unroll
            for (int j = 0; j < 4; j++) {
                const bool there = a_there && row0 + a_line + j * 32 < m;
                copy16(stage + a_place + j * 32 * 128, there ? pa + j * a_step : a, there);
            }
#pragma unroll
            for (int j = 0; j < 4; j++) {
                const bool there = b_there && k0 + b_line + j * 16 < k;
                copy16(stage + b_place + j * 16 * 128, there ? pb + j * b_step : b, there);
            }
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };

    float acc[64];
#pragma unroll
    for (int i = 0; i < 64; i++)
        acc[i] = 0.0f;
#pragma unroll
    for (int t = 0; t < STAGES - 2; t++)
        load(t);
    for (int t = 0; t < tiles; t++) {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 3) : "memory");
        asm volatile("fence.proxy.async;" ::: "memory");
        __syncthreads();
        const uint32_t stage = smem + t % STAGES * STAGE_BYTES;
        const uint64_t da = descriptor(stage + group * 64 * 128, 16), db = descriptor(stage + A_BYTES, B_HALF);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int s = 0; s < TK / 16; s++)
            multiply(acc, da + s * (32 >> 4), db + s * (2048 >> 4));
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        load(t + STAGES - 2);
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
    for (int i = 0; i < 64; i++)
        asm volatile("" : "+f"(acc[i])::"memory");
    asm volatile("cp.async.wait_group 0;" ::: "memory");

    // Rank 0 finishes columns 0 to 63, rank 1 the others: each gives the other's to it.
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    const uint32_t taken = smem + STAGES * STAGE_BYTES;
    uint32_t given;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(given) : "r"(taken + tid * 16), "r"(1 - rank));
#pragma unroll
    for (int i = 0; i < 32; i += 4) {
        const float x = rank ? acc[i] : acc[i + 32], y = rank ? acc[i + 1] : acc[i + 33];
        const float z = rank ? acc[i + 2] : acc[i + 34], w = rank ? acc[i + 3] : acc[i + 35];
        asm volatile("st.shared::cluster.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(given + i / 4 * (THREADS * 16)), "f"(x),
                     "f"(y), "f"(z), "f"(w)
                     : "memory");
    }
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");

    __half *staged = reinterpret_cast<__half *>(smem_at);
    const float4 *other = reinterpret_cast<const float4 *>(smem_at + STAGES * STAGE_BYTES) + tid;
    const int r = warp * 16 + lane / 4, q = lane % 4 * 2;
#pragma unroll
    for (int j = 0; j < 8; j++) {
        const float4 o = other[j * THREADS];
        const float x = (rank ? acc[4 * j + 32] : acc[4 * j]) + o.x, y = (rank ? acc[4 * j + 33] : acc[4 * j + 1]) + o.y;
        const float z = (rank ? acc[4 * j + 34] : acc[4 * j + 2]) + o.z;
        const float w = (rank ? acc[4 * j + 35] : acc[4 * j + 3]) + o.w;
        *reinterpret_cast<__half2 *>(staged + r * PITCH + j * 8 + q) = __floats2half2_rn(x, y);
        *reinterpret_cast<__half2 *>(staged + (r + 8) * PITCH + j * 8 + q) = __floats2half2_rn(z, w);
    }
    __syncthreads();
    const int column = col0 + rank * 64 + a_piece * 8;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const int l = a_line + j * 32;
        if (row0 + l < m && column < n)
            *reinterpret_cast<uint4 *>(c + (int64_t)(row0 + l) * n + column) =
                *reinterpret_cast<const uint4 *>(staged + l * PITCH + a_piece * 8);
    }
}

// Any shape: a tile of 32 x 32 results, four a thread.
__global__ void __launch_bounds__(256)
    product_any(__half *__restrict__ c, const __half *__restrict__ a, const __half *__restrict__ b, int m, int n, int k)
{
    __shared__ float ta[32][33], tb[32][33];
    const int x = threadIdx.x % 32, y = threadIdx.x / 32;
    const int row0 = blockIdx.y * 32, col0 = blockIdx.x * 32;
    float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int k0 = 0; k0 < k; k0 += 32) {
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const int l = y + 8 * j;
            ta[l][x] = row0 + l < m && k0 + x < k ? __half2float(a[(int64_t)(row0 + l) * k + k0 + x]) : 0.0f;
            tb[l][x] = k0 + l < k && col0 + x < n ? __half2float(b[(int64_t)(k0 + l) * n + col0 + x]) : 0.0f;
        }
        __syncthreads();
#pragma unroll 8
        for (int i = 0; i < 32; i++) {
            const float w = tb[i][x];
#pragma unroll
            for (int j = 0; j < 4; j++)
                sum[j] += ta[y + 8 * j][i] * w;
        }
        __syncthreads();
    }
#pragma unroll
    for (int j = 0; j < 4; j++)
        if (row0 + y + 8 * j < m && col0 + x < n)
            c[(int64_t)(row0 + y + 8 * j) * n + col0 + x] = __float2half(sum[j]);
}

extern "C" void product(__half *c, const __half *a, const __half *b, int m, int n, int k, cudaStream_t stream)
{
    const bool aligned = (uintptr_t)c % 16 == 0 && (uintptr_t)a % 16 == 0 && (uintptr_t)b % 16 == 0;
    if (aligned && n % 8 == 0 && k % 8 == 0) {
        cudaFuncSetAttribute(product_tensor, cudaFuncAttributeMaxDynamicSharedMemorySize, SMEM_BYTES);
        product_tensor<<<dim3((n + TN - 1) / TN * SPLIT, (m + TM - 1) / TM), THREADS, SMEM_BYTES, stream>>>(c, a, b, m,
                                                                                                          n, k);
    } else {
        product_any<<<dim3((n + 31) / 32, (m + 31) / 32), 256, 0, stream>>>(c, a, b, m, n, k);
    }
}
