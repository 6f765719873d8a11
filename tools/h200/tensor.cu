// What copies of tiles into shared memory take: 64 x 64 and 128 x 64 halves, swizzled by 128 bytes, by cp.async of 16 bytes
// a thread, by one tensor copy, and by two blocks of a cluster that each fetch half a tile for both (multicast). One copy
// after the other on one SM, and four under way on all SMs, from the L2 and from DRAM. `tensor OUT.csv` writes
// group,name,parameter,value,unit as micro does: clocks a tile, and bytes that come into shared memory a nanosecond.
//     nvcc -std=c++17 -O3 -gencode arch=compute_90a,code=sm_90a -o tensor tools/h200/tensor.cu && ./tensor OUT.csv
#include "figures.cuh"
#include <cstdint>
#include <cudaTypedefs.h>

constexpr int STAGES = 4, THREADS = 128, ROW = 128; // bytes
enum way { CP_ASYNC, TENSOR, MULTICAST };

__device__ static uint32_t place(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

__device__ static void wait_for(uint32_t bar, uint32_t parity)
{
    uint32_t done = 0;
    while (!done)
        asm volatile("{.reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
                     : "=r"(done) : "r"(bar), "r"(parity) : "memory");
}

// A block, or with MULTICAST a cluster of two, takes tiles `units` apart; `across` of them lie beside each other.
template <int ROWS, way WAY>
__global__ void __launch_bounds__(THREADS) tiles(const __grid_constant__ CUtensorMap map, const char *from, int across, int all,
                                                 int steps, int depth, long long *cycles)
{
    extern __shared__ char raw[];
    __shared__ uint64_t full[STAGES], empty[STAGES];
    constexpr int PEERS = WAY == MULTICAST ? 2 : 1, BYTES = ROWS * ROW;
    const uint32_t base = (place(raw) + 1023) & ~1023u, rank = blockIdx.x % PEERS;
    const int unit = blockIdx.x / PEERS, units = gridDim.x / PEERS;
    uint32_t sum = 0;
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(place(&full[s])) : "memory");
            asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(place(&empty[s])), "n"(PEERS) : "memory");
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (PEERS > 1)
        asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");

    auto fetch = [&](int step) {
        const int s = step % depth, tile = (int)((unit + (long long)step * units) % all);
        const int x = tile % across * 64, y = tile / across * ROWS;
        const uint32_t stage = base + s * BYTES;
        if (WAY == CP_ASYNC) {
#pragma unroll
            for (int k = 0; k < ROWS * 8 / THREADS; k++) {
                const int chunk = threadIdx.x % 8, row = k * (THREADS / 8) + threadIdx.x / 8;
                const char *at = from + ((size_t)(y + row) * across * 64 + x) * 2 + chunk * 16;
                asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(stage + row * ROW + ((chunk ^ (row & 7)) << 4)),
                             "l"(at) : "memory");
            }
            return;
        }
        if (threadIdx.x != 0)
            return;
        if (PEERS > 1 && step >= depth)
            wait_for(place(&empty[s]), (step / depth - 1) & 1);
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(place(&full[s])), "r"(BYTES) : "memory");
        if (WAY == TENSOR)
            asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(stage),
                         "l"(&map), "r"(x), "r"(y), "r"(place(&full[s])) : "memory");
        else
            asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3}], "
                         "[%4], %5;" ::"r"(stage + rank * (BYTES / 2)),
                         "l"(&map), "r"(x), "r"(y + (int)rank * (ROWS / 2)), "r"(place(&full[s])), "h"((uint16_t)3) : "memory");
    };

    long long start = ticks();
    for (int step = 0; step < depth; step++) {
        if (step < steps)
            fetch(step);
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    for (int step = 0; step < steps; step++) {
        const int s = step % depth;
        if (WAY == CP_ASYNC) {
            if (depth == 1)
                asm volatile("cp.async.wait_group 0;" ::: "memory");
            else
                asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 1) : "memory");
            __syncthreads();
        } else {
            wait_for(place(&full[s]), step / depth & 1);
        }
        uint32_t word;
        asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(base + s * BYTES + threadIdx.x * 4) : "memory");
        sum += word;
        __syncthreads();
        if (PEERS > 1 && threadIdx.x < PEERS)
            asm volatile("{.reg .b32 there; mapa.shared::cluster.u32 there, %0, %1; "
                         "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there];}" ::"r"(place(&empty[s])), "r"(threadIdx.x) : "memory");
        if (step + depth < steps)
            fetch(step + depth);
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    long long end = ticks();
    if (PEERS > 1)
        asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
    if (threadIdx.x == 0)
        cycles[blockIdx.x == 0 ? 0 : 2] = end - start;
    if (sum == 77)
        cycles[1] = sum;
}

static CUtensorMap describe(void *from, int columns, int rows, int box_rows)
{
    static PFN_cuTensorMapEncodeTiled_v12000 encode = nullptr;
    if (!encode) {
        cudaDriverEntryPointQueryResult found;
        CUDA(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&encode, 12000, cudaEnableDefault, &found));
    }
    CUtensorMap map;
    cuuint64_t sizes[2] = {(cuuint64_t)columns, (cuuint64_t)rows}, strides[1] = {(cuuint64_t)columns * 2};
    cuuint32_t box[2] = {64, (cuuint32_t)box_rows}, ones[2] = {1, 1};
    if (encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, from, sizes, strides, box, ones, CU_TENSOR_MAP_INTERLEAVE_NONE,
               CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS)
        throw std::runtime_error("no tensor map");
    return map;
}

template <int ROWS, way WAY> static void measure(char *pool, const char *name)
{
    constexpr int PEERS = WAY == MULTICAST ? 2 : 1, COLUMNS = 4096;
    const auto kernel = tiles<ROWS, WAY>;
    const int bytes = STAGES * ROWS * ROW + 1024;
    CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    for (int mib : {16, 4096}) {
        const int rows = (int)(((size_t)mib << 20) / (COLUMNS * 2)), all = rows / ROWS * (COLUMNS / 64);
        const CUtensorMap map = describe(pool, COLUMNS, rows, ROWS / PEERS);
        auto launch = [&](int blocks, int steps, int depth) {
            cudaLaunchConfig_t config = {};
            cudaLaunchAttribute cluster[1];
            cluster[0].id = cudaLaunchAttributeClusterDimension;
            cluster[0].val.clusterDim.x = PEERS;
            cluster[0].val.clusterDim.y = cluster[0].val.clusterDim.z = 1;
            config.gridDim = blocks;
            config.blockDim = THREADS;
            config.dynamicSmemBytes = bytes;
            config.stream = gpu_clock.stream;
            config.attrs = cluster;
            config.numAttrs = 1;
            CUDA(cudaLaunchKernelEx(&config, kernel, map, (const char *)pool, COLUMNS / 64, all, steps, depth, device_cycles));
        };
        const std::string where = std::to_string(ROWS) + " x 64; " + (mib > 64 ? "DRAM" : "L2");
        put("tile", name, where + "; one after the other on one SM", cycles_of([&] { launch(PEERS, 1024, 1); }) / 1024, "cycles");
        const int blocks = sms / PEERS * PEERS, steps = mib > 64 ? all / (blocks / PEERS) : 2048;
        put("tile", name, where + "; " + std::to_string(blocks) + " SMs; 4 under way",
            (double)blocks * steps * ROWS * ROW / (median_us(4, [&](int) { launch(blocks, steps, STAGES); }) * 1e3), "bytes per ns");
    }
}

int main(int argc, char **argv)
try {
    char *pool;
    if (argc != 2 || !(csv = fopen(argv[1], "w"))) {
        fprintf(stderr, "usage: tensor OUT.csv\n");
        return 2;
    }
    gpu_clock.open();
    CUDA(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    CUDA(cudaMalloc((void **)&device_cycles, 4096 * sizeof(long long)));
    CUDA(cudaMalloc((void **)&pool, (size_t)4 << 30));
    CUDA(cudaMemset(pool, 1, (size_t)4 << 30));
    fprintf(csv, "group,name,parameter,value,unit\n");
    measure<64, CP_ASYNC>(pool, "cp.async");
    measure<64, TENSOR>(pool, "tensor");
    measure<64, MULTICAST>(pool, "multicast");
    measure<128, CP_ASYNC>(pool, "cp.async");
    measure<128, TENSOR>(pool, "tensor");
    measure<128, MULTICAST>(pool, "multicast");
    if (gpu_clock.timeouts()) {
        fprintf(stderr, "a launch blocked the host: figures are wrong\n");
        return 1;
    }
    fclose(csv);
    return 0;
} catch (const std::exception &e) {
    fprintf(stderr, "%s\n", e.what());
    return 1;
}
