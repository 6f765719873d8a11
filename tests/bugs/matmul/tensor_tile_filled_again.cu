// expect: unsafe
// row 13: Nothing makes the thread that fills the ring wait for those that multiply: phases run past them.
#include <cuda.h>
#include <cuda_fp16.h>
#include <stdint.h>

constexpr int TILE = 64;
constexpr int STAGES = 3;
constexpr int TILE_BYTES = TILE * TILE * 2;

__global__ void plain(__half *c, const __half *a, const __half *b, int m, int n, int k)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || col >= n)
        return;
    float sum = 0.f;
    for (int i = 0; i < k; i++)
        sum += __half2float(a[(int64_t)row * k + i]) * __half2float(b[(int64_t)i * n + col]);
    c[(int64_t)row * n + col] = __float2half(sum);
}

__device__ uint32_t place(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

// Rows of 128 bytes, swizzled; eight of them are 1024 bytes.
__device__ uint64_t descriptor(const void *p)
{
    return place(p) >> 4 | 1ull << 16 | (uint64_t)(1024 >> 4) << 32 | 1ull << 62;
}

__device__ void load(void *to, const CUtensorMap *map, int x, int y, uint64_t *bar)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 ::"r"(place(to)), "l"(map), "r"(x), "r"(y), "r"(place(bar)) : "memory");
}

__device__ void wait(uint64_t *bar, int parity)
{
    asm volatile("{ .reg .pred done;\n"
                 "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra again; }" ::"r"(place(bar)), "r"(parity) : "memory");
}

__device__ void multiply(float (&d)[32], uint64_t a, uint64_t b)
{
    asm volatile("{ .reg .pred p; setp.ne.u32 p, 1, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, "
                 "%13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
                 "%32, %33, p, 1, 1, 0, 1; }"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
                   "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
                   "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
                   "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
                 : "l"(a), "l"(b));
}

__global__ void __launch_bounds__(160) tiles(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
                                             __half *c, int m, int n, int k)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    __shared__ uint64_t full[STAGES];
    unsigned char *tile_a = memory, *tile_b = memory + STAGES * TILE_BYTES;
    int steps = (k + TILE - 1) / TILE, row = blockIdx.y * TILE, col = blockIdx.x * TILE;
    float d[32];
    for (int i = 0; i < 32; i++)
        d[i] = 0.f;
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++)
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(place(&full[s])) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    auto begin = [&](int step) {
        int s = step % STAGES;
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(place(&full[s])), "r"(2 * TILE_BYTES) : "memory");
        load(tile_a + s * TILE_BYTES, &map_a, step * TILE, row, &full[s]);
        load(tile_b + s * TILE_BYTES, &map_b, col, step * TILE, &full[s]);
    };
    if (threadIdx.x >= 128) { // a warp of its own
        if (threadIdx.x == 128)
            for (int step = 0; step < steps; step++)
                begin(step);
        return;
    }
    for (int step = 0; step < steps; step++) {
        int s = step % STAGES;
        wait(&full[s], step / STAGES % 2);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int j = 0; j < TILE / 16; j++)
            multiply(d, descriptor(tile_a + s * TILE_BYTES + 32 * j), descriptor(tile_b + s * TILE_BYTES + 2048 * j));
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    }
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int i = 0; i < 32; i += 2) {
        int y = row + 16 * warp + lane / 4 + 8 * (i / 2 % 2), x = col + 8 * (i / 4) + 2 * (lane % 4);
        if (y < m && x < n) // n is even
            *reinterpret_cast<__half2 *>(c + (int64_t)y * n + x) = __floats2half2_rn(d[i], d[i + 1]);
    }
}

static bool describe(CUtensorMap *map, const __half *p, int rows, int columns)
{
    cuuint64_t sizes[2] = {(cuuint64_t)columns, (cuuint64_t)rows}, strides[1] = {(cuuint64_t)columns * 2};
    cuuint32_t box[2] = {TILE, TILE}, steps[2] = {1, 1};
    return cuTensorMapEncodeTiled(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, (void *)p, sizes, strides, box, steps,
                                  CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

extern "C" void matmul(__half *c, const __half *a, const __half *b, int m, int n, int k, cudaStream_t stream)
{
    constexpr int bytes = 2 * STAGES * TILE_BYTES;
    CUtensorMap map_a, map_b;
    if (n % 8 == 0 && k % 8 == 0 && describe(&map_a, a, m, k) && describe(&map_b, b, k, n)) {
        cudaFuncSetAttribute(tiles, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
        tiles<<<dim3((n + TILE - 1) / TILE, (m + TILE - 1) / TILE), 160, bytes, stream>>>(map_a, map_b, c, m, n, k);
    } else {
        plain<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16), 0, stream>>>(c, a, b, m, n, k);
    }
}
