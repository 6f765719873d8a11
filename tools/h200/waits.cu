// What micro.cu and issue.cu leave open: conversions to double and back, loads of whole warps from the L2 and DRAM by how
// many warps wait beside, lanes that read anywhere in a table, stores that lie far apart, launches of clusters, and
// blocks that take tickets from a counter. `waits OUT.csv` writes group,name,parameter,value,unit as micro does.
#include "figures.cuh"
#include <cooperative_groups.h>
#include <cstdint>
#include <numeric>
#include <random>

static char *pool;
static const size_t POOL = (size_t)8 << 30;

// ---- conversions ----

template <int N> __global__ void to_double(float y, long long *cycles)
{
    float x[N];
    for (int k = 0; k < N; k++)
        x[k] = threadIdx.x + k;
    __syncthreads();
    long long start = ticks();
#pragma unroll 8
    for (int i = 0; i < 256; i++)
#pragma unroll
        for (int k = 0; k < N; k++)
            asm volatile("{.reg .f64 d; cvt.f64.f32 d, %0; cvt.rn.f32.f64 %0, d;}" : "+f"(x[k]));
    __syncthreads();
    long long end = ticks();
    float sum = y;
    for (int k = 0; k < N; k++)
        sum += x[k];
    if (threadIdx.x == 0)
        cycles[0] = end - start;
    cycles[1 + (threadIdx.x == 0)] = (long long)sum;
}

// A load is converted and added in double, then the next is asked for: sums of a row.
__global__ void double_chain(const float *p, int steps, long long *cycles)
{
    double sum = 0;
    long long start = ticks();
#pragma unroll 8
    for (int i = 0; i < steps; i++)
        sum += (double)__ldcg(p + i * 32 + threadIdx.x);
    cycles[0] = ticks() - start;
    cycles[1] = (long long)sum;
}

// ---- whole warps that wait ----

// Each warp goes its own way through `lines` lines of 512 bytes; a load's first word says where the next one is.
template <typename T> __global__ void warp_chase(const char *p, uint32_t lines, int steps, long long *cycles)
{
    uint32_t warp = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    uint32_t at = (warp * 2654435761u >> 7) & (lines - 1);
    __syncthreads();
    long long start = ticks();
    for (int i = 0; i < steps; i++) {
        const T *from = (const T *)(p + (size_t)at * 512) + lane;
        T v;
        if (sizeof(T) == 16)
            asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(((uint32_t *)&v)[0]), "=r"(((uint32_t *)&v)[1]), "=r"(((uint32_t *)&v)[2]), "=r"(((uint32_t *)&v)[3]) : "l"(from) : "memory");
        else
            asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(((uint32_t *)&v)[0]) : "l"(from) : "memory");
        at = (at * 1664525u + ((uint32_t *)&v)[0]) & (lines - 1); // what is there is not known to the compiler
    }
    long long end = ticks();
    if (threadIdx.x == 0)
        cycles[blockIdx.x == 0 ? 0 : 2] = end - start;
    cycles[1] = at;
}

// ---- lanes anywhere in a table ----

template <bool SHARED> __global__ void gather(const uint32_t *p, uint32_t words, int steps, long long *cycles)
{
    extern __shared__ uint32_t table[];
    if (SHARED)
        for (uint32_t i = threadIdx.x; i < words; i += blockDim.x)
            table[i] = p[i];
    uint32_t at[4], sum = 0;
    for (int k = 0; k < 4; k++)
        at[k] = threadIdx.x * 2654435761u + k * 40503u + 12345u;
    for (uint32_t i = threadIdx.x; i < words; i += blockDim.x)
        sum += p[i];
    __syncthreads();
    long long start = ticks();
    for (int i = 0; i < steps; i++)
#pragma unroll
        for (int k = 0; k < 4; k++) {
            uint32_t v = SHARED ? *(volatile uint32_t *)&table[(at[k] >> 8) & (words - 1)] : *(const volatile uint32_t *)&p[(at[k] >> 8) & (words - 1)];
            at[k] = at[k] * 1664525u + v;
        }
    __syncthreads();
    if (threadIdx.x == 0)
        cycles[0] = ticks() - start;
    cycles[1] = at[0] + at[1] + at[2] + at[3] + sum;
}

// Lines that hit the L1: `lanes` of a warp touch one each, `apart` bytes from the next, or anywhere in a table.
__global__ void lines(const char *p, int lanes, uint32_t apart, uint32_t table, int steps, long long *cycles)
{
    uint32_t lane = threadIdx.x % 32, at = apart ? lane * apart : (lane + 1) * 2654435761u, sum = 0;
    for (uint32_t i = threadIdx.x * 128; i < table; i += blockDim.x * 128)
        sum += *(const uint32_t *)(p + i);
    __syncthreads();
    long long start = ticks();
    if (lane < (uint32_t)lanes)
        for (int i = 0; i < steps; i++) {
            uint32_t v[4];
#pragma unroll
            for (int k = 0; k < 4; k++) {
                uint32_t where = apart ? at + 4 * ((i * 4 + k) & 7) : (at >> 8) & (table - 1) & ~3u;
                asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v[k]) : "l"(p + where));
                at = apart ? at : at * 1664525u + 1013904223u;
            }
            sum += v[0] + v[1] + v[2] + v[3];
        }
    __syncthreads();
    if (threadIdx.x == 0)
        cycles[0] = ticks() - start;
    cycles[1] = sum;
}

// ---- stores that lie far apart ----

// Runs of `run` words; who stores which run is scrambled over the whole range (a power of two of runs).
__global__ void scattered_stores(uint32_t *p, uint32_t runs, uint32_t run, uint32_t all)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, r = i / run;
    if (i < all)
        p[(size_t)((r * 2654435769u) & (runs - 1)) * run * (run < 8 ? 8 / run : 1) + i % run] = i;
}

// ---- launches of clusters, tickets ----

__global__ void empty_kernel(int *p)
{
    if (p && threadIdx.x == 12345)
        *p = 1;
}

__global__ void cluster_sync_kernel(int *p, int times)
{
    auto c = cooperative_groups::this_cluster();
    for (int i = 0; i < times; i++)
        c.sync();
    if (threadIdx.x == 12345)
        *p = 1;
}

static void clusters(const void *kernel, int cluster, int blocks, int threads, size_t shared, void **args)
{
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute a;
    a.id = cudaLaunchAttributeClusterDimension;
    a.val.clusterDim = {(unsigned)cluster, 1, 1};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(threads);
    config.dynamicSmemBytes = shared;
    config.stream = gpu_clock.stream;
    config.attrs = &a;
    config.numAttrs = cluster > 0;
    CUDA(cudaLaunchKernelExC(&config, kernel, args));
}

// Rows summed by clusters: each block its part, parts exchanged through the cluster's shared memory.
__global__ void cluster_rows(float *out, const float *in, int d)
{
    auto c = cooperative_groups::this_cluster();
    __shared__ float part;
    int n = c.num_blocks(), each = d / n, row = blockIdx.x / n;
    const float *from = in + (size_t)row * d + (size_t)c.block_rank() * each;
    float sum = 0;
    if (threadIdx.x == 0)
        part = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < each; i += blockDim.x)
        sum += from[i];
    for (int k = 16; k; k /= 2)
        sum += __shfl_xor_sync(~0u, sum, k);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&part, sum);
    c.sync();
    if (threadIdx.x == 0 && c.block_rank() == 0) {
        sum = 0;
        for (int k = 0; k < n; k++)
            sum += *c.map_shared_rank(&part, k);
        out[row] = sum;
    }
    c.sync();
}

__global__ void tickets(unsigned *counter, unsigned all, int *p)
{
    __shared__ unsigned mine;
    for (;;) {
        if (threadIdx.x == 0)
            mine = atomicAdd(counter, 1u);
        __syncthreads();
        if (mine >= all)
            break;
        __syncthreads();
    }
    if (threadIdx.x == 12345)
        *p = 1;
}

__global__ void warp_tickets(unsigned *counter, unsigned all, int *p)
{
    for (;;) {
        unsigned mine = 0;
        if (threadIdx.x % 32 == 0)
            mine = atomicAdd(counter, 1u);
        mine = __shfl_sync(~0u, mine, 0);
        if (mine >= all)
            break;
    }
    if (threadIdx.x == 12345)
        *p = 1;
}

static void measure()
{
    cudaStream_t s = gpu_clock.stream;
    CUDA(cudaMalloc((void **)&pool, POOL));
    CUDA(cudaMemset(pool, 1, POOL));

    put("instruction", "cvt_f64_f32_f64", "latency", cycles_of([&] { to_double<1><<<1, 32, 0, s>>>(0, device_cycles); }) / 256, "cycles");
    put("instruction", "cvt_f64_f32_f64", "throughput", 1024.0 * 4 * 256 / cycles_of([&] { to_double<4><<<1, 1024, 0, s>>>(0, device_cycles); }), "lanes per cycle and SM");
    put("chain", "load; cvt; add_f64", "1 warp; L2", cycles_of([&] { double_chain<<<1, 32, 0, s>>>((float *)pool, 1024, device_cycles); }) / 1024, "cycles");

    for (uint32_t mib : {8, 32, 4096}) // 4096: DRAM
        for (int blocks : {1, sms})
            for (int warps : {1, 4, 16}) {
                std::string where = std::to_string(blocks) + " SMs; " + std::to_string(warps) + " warps each; " + std::to_string(mib) + " MiB";
                int steps = mib > 64 ? 256 : 2048;
                put("warp load", "4 B", where, cycles_of([&] { warp_chase<uint32_t><<<blocks, warps * 32, 0, s>>>(pool, mib << 11, steps, device_cycles); }) / steps, "cycles");
                put("warp load", "16 B", where, cycles_of([&] { warp_chase<uint4><<<blocks, warps * 32, 0, s>>>(pool, mib << 11, steps, device_cycles); }) / steps, "cycles");
            }

    for (uint32_t kib : {1, 8, 32, 64})
        for (int threads : {32, 1024}) {
            std::string where = std::to_string(kib) + " KiB; " + std::to_string(threads) + " threads";
            CUDA(cudaFuncSetAttribute(gather<true>, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
            put("gather", "L1", where, cycles_of([&] { gather<false><<<1, threads, 0, s>>>((uint32_t *)pool, kib * 256, 64, device_cycles); }) / 256 / (threads / 32), "cycles");
            put("gather", "shared", where, cycles_of([&] { gather<true><<<1, threads, kib * 1024, s>>>((uint32_t *)pool, kib * 256, 64, device_cycles); }) / 256 / (threads / 32), "cycles");
        }

    for (int lanes : {4, 8, 16, 32})
        for (uint32_t apart : {0, 32, 128, 256, 384, 4096, 4224})
            put("lines", apart ? std::to_string(apart) + " bytes apart" : "anywhere in 32 KiB", std::to_string(lanes) + " lanes; 1024 threads",
                cycles_of([&] { lines<<<1, 1024, 0, s>>>(pool, lanes, apart, apart ? apart * 32 : 32768, 64, device_cycles); }) / 256 / 32, "cycles");

    for (uint32_t run : {1, 2, 4, 8, 16, 32})
        for (uint32_t mib : {16, 4096}) {
            uint32_t runs = (mib << 18) / (run < 8 ? 8 : run), all = std::min<uint32_t>(runs, 1u << 24) * run;
            if (all > (1u << 26))
                all = 1u << 26;
            double us = median_us(2, [&](int) { scattered_stores<<<(all + 255) / 256, 256, 0, s>>>((uint32_t *)pool, runs, run, all); }, 5);
            put("stores", std::to_string(run * 4) + " B a run", "scattered over " + std::to_string(mib) + " MiB", all / run / us * 1e-3, "G runs/s");
        }

    int *none = nullptr, one = 1, eleven = 11;
    void *args[] = {&none}, *once[] = {&none, &one}, *often[] = {&none, &eleven};
    for (int blocks : {128, 1024, 8192, 65536})
        for (int cluster : {0, 1, 2, 4, 8}) {
            std::string where = std::to_string(blocks) + " blocks of 128; clusters of " + std::to_string(cluster);
            int n = blocks > 10000 ? 10 : 50;
            put("cluster", "empty", where, median_us(n, [&](int) { clusters((void *)empty_kernel, cluster, blocks, 128, 0, args); }), "us");
            if (cluster > 0) {
                put("cluster", "one sync", where, median_us(n, [&](int) { clusters((void *)cluster_sync_kernel, cluster, blocks, 128, 0, once); }), "us");
                put("cluster", "eleven syncs", where, median_us(n, [&](int) { clusters((void *)cluster_sync_kernel, cluster, blocks, 128, 0, often); }), "us");
            }
        }
    for (int d : {4096, 16384, 65536})
        for (int cluster : {1, 2, 4, 8}) {
            int rows = (256 << 20) / 4 / d;
            float *out = (float *)(pool + POOL - (64 << 20)), *in = (float *)pool;
            void *with[] = {&out, &in, &d};
            put("cluster", "rows", std::to_string(rows) + " rows of " + std::to_string(d) + "; blocks of 256; clusters of " + std::to_string(cluster),
                median_us(4, [&](int i) { in = (float *)(pool + (size_t)(i % 4) * (256 << 20)); clusters((void *)cluster_rows, cluster, rows * cluster, 256, 0, with); }), "us");
        }

    unsigned *counter = (unsigned *)(pool + POOL - 4096);
    for (int blocks : {sms, 4 * sms, 16 * sms})
        for (unsigned all : {0u, 16384u, 131072u}) {
            auto run = [&](bool warps) {
                return median_us(8, [&](int) {
                    CUDA(cudaMemsetAsync(counter, 0, 4, s));
                    if (warps)
                        warp_tickets<<<blocks, 128, 0, s>>>(counter, all, nullptr);
                    else
                        tickets<<<blocks, 128, 0, s>>>(counter, all, nullptr);
                });
            };
            std::string where = std::to_string(all) + " tickets; " + std::to_string(blocks) + " blocks of 128; with a memset";
            put("tickets", "a block", where, run(false), "us");
            put("tickets", "a warp", where, run(true), "us");
        }
}

int main(int argc, char **argv)
{
    return write_figures(argc, argv, "waits", measure);
}
