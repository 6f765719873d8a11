// What a clock model needs to know about a GPU, measured: latency of the memories by pointer chase, latency and
// throughput of instructions, barriers and atomics, bandwidth by size, occupancy and bytes in flight, and what
// a launch costs by the number of its blocks. `micro OUT.csv` writes group,name,parameter,value,unit.
#include "figures.cuh"
#include <cstdint>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <numeric>
#include <random>
#include <type_traits>

// Pointer chase: one thread, each load's address is the one before it.

template <int KIND> __device__ uint32_t follow(const uint32_t *p)
{
    uint32_t v;
    if (KIND == 0)
        asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    else if (KIND == 1)
        asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    else
        asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}

template <int KIND> __global__ void chase_global(const uint32_t *next, int warm, int steps, long long *cycles)
{
    uint32_t at = 0;
    for (int i = 0; i < warm; i++)
        at = follow<KIND>(next + at);
    long long start = ticks();
#pragma unroll 16
    for (int i = 0; i < steps; i++)
        at = follow<KIND>(next + at);
    cycles[0] = ticks() - start;
    cycles[1] = at;
}

__global__ void chase_shared(int steps, long long *cycles)
{
    __shared__ volatile uint32_t next[256];
    for (int i = 0; i < 256; i++)
        next[i] = (i + 33) % 256;
    uint32_t at = 0;
    long long start = ticks();
#pragma unroll 16
    for (int i = 0; i < steps; i++)
        at = next[at];
    cycles[0] = ticks() - start;
    cycles[1] = at;
}

static void chase(size_t bytes, size_t step, const char *name, int kind, bool cold)
{
    size_t n = bytes / step, per = step / 4;
    std::vector<uint32_t> order(n), host(bytes / 4, 0);
    std::iota(order.begin(), order.end(), 0);
    std::mt19937 rng(7);
    std::shuffle(order.begin() + 1, order.end(), rng);
    for (size_t i = 0; i < n; i++)
        host[order[i] * per] = (uint32_t)(order[(i + 1) % n] * per);
    uint32_t *device, *flush;
    CUDA(cudaMalloc((void **)&device, bytes));
    CUDA(cudaMemcpy(device, host.data(), bytes, cudaMemcpyHostToDevice));
    const size_t flush_bytes = 256u << 20;
    CUDA(cudaMalloc((void **)&flush, flush_bytes));
    int steps = cold ? (int)std::min<size_t>(n - 1, 4096) : 4096,
        warm = cold ? 0 : (int)std::min<size_t>(n, 200000);
    auto launch = [&] {
        if (cold)
            CUDA(cudaMemsetAsync(flush, 1, flush_bytes, gpu_clock.stream));
        if (kind == 0)
            chase_global<0><<<1, 1, 0, gpu_clock.stream>>>(device, warm, steps, device_cycles);
        else if (kind == 1)
            chase_global<1><<<1, 1, 0, gpu_clock.stream>>>(device, warm, steps, device_cycles);
        else
            chase_global<2><<<1, 1, 0, gpu_clock.stream>>>(device, warm, steps, device_cycles);
    };
    put("latency", name, std::to_string(bytes / 1024) + " KiB; step " + std::to_string(step),
        cycles_of(launch) / steps, "cycles");
    CUDA(cudaFree(device));
    CUDA(cudaFree(flush));
}

// Instructions: `apply` is one step of a dependent chain.

#define OP_F(name, code)                                \
    struct name {                                       \
        typedef float type;                             \
        static const char *label()                      \
        {                                               \
            return #name;                               \
        }                                               \
        __device__ static float apply(float x, float y) \
        {                                               \
            code;                                       \
            return x;                                   \
        }                                               \
    };
#define OP_I(name, kind, code)                       \
    struct name {                                    \
        typedef kind type;                           \
        static const char *label()                   \
        {                                            \
            return #name;                            \
        }                                            \
        __device__ static kind apply(kind x, kind y) \
        {                                            \
            code;                                    \
            return x;                                \
        }                                            \
    };

OP_F(add_f32, asm volatile("add.rn.f32 %0, %0, %1;" : "+f"(x) : "f"(y)))
OP_F(fma_f32, asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x) : "f"(y)))
OP_F(max_f32, asm volatile("max.f32 %0, %0, %1;" : "+f"(x) : "f"(y)))
OP_F(ex2_approx, asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x)))
OP_F(lg2_approx, asm volatile("lg2.approx.ftz.f32 %0, %0;" : "+f"(x)))
OP_F(rcp_approx, asm volatile("rcp.approx.ftz.f32 %0, %0;" : "+f"(x)))
OP_F(rsqrt_approx, asm volatile("rsqrt.approx.ftz.f32 %0, %0;" : "+f"(x)))
OP_F(sqrt_approx, asm volatile("sqrt.approx.ftz.f32 %0, %0;" : "+f"(x)))
OP_F(sin_approx, asm volatile("sin.approx.ftz.f32 %0, %0;" : "+f"(x)))
OP_F(tanh_approx, asm volatile("tanh.approx.f32 %0, %0;" : "+f"(x)))
OP_F(div_approx, asm volatile("div.approx.ftz.f32 %0, %0, %1;" : "+f"(x) : "f"(y)))
OP_F(div_full, asm volatile("div.full.ftz.f32 %0, %0, %1;" : "+f"(x) : "f"(y)))
OP_F(div_rn, asm volatile("div.rn.f32 %0, %0, %1;" : "+f"(x) : "f"(y)))
OP_F(rcp_rn, asm volatile("rcp.rn.f32 %0, %0;" : "+f"(x)))
OP_F(sqrt_rn, asm volatile("sqrt.rn.f32 %0, %0;" : "+f"(x)))
OP_F(cvt_f32_f16_f32, asm volatile("{.reg .b16 h; cvt.rn.f16.f32 h, %0; cvt.f32.f16 %0, h;}" : "+f"(x)))
OP_F(cvt_f32_s32_f32, asm volatile("{.reg .s32 h; cvt.rzi.s32.f32 h, %0; cvt.rn.f32.s32 %0, h;}" : "+f"(x)))
OP_F(shfl_bfly, asm volatile("shfl.sync.bfly.b32 %0, %0, 1, 0x1f, 0xffffffff;" : "+f"(x)))
OP_I(add_s32, int, asm volatile("add.s32 %0, %0, %1;" : "+r"(x) : "r"(y)))
OP_I(lop_b32, int, asm volatile("xor.b32 %0, %0, %1;" : "+r"(x) : "r"(y)))
OP_I(shl_b32, int, asm volatile("shl.b32 %0, %0, %1;" : "+r"(x) : "r"(y)))
OP_I(mad_lo_s32, int, asm volatile("mad.lo.s32 %0, %0, %1, %1;" : "+r"(x) : "r"(y)))
OP_I(mul_hi_u32, int, asm volatile("mul.hi.u32 %0, %0, %1;" : "+r"(x) : "r"(y)))
OP_I(popc_b32, int, asm volatile("popc.b32 %0, %0;" : "+r"(x)))
OP_I(prmt_b32, int, asm volatile("prmt.b32 %0, %0, %1, 0x3021;" : "+r"(x) : "r"(y)))
OP_I(div_s32, int, asm volatile("div.s32 %0, %0, %1;" : "+r"(x) : "r"(y)))
OP_I(rem_s32, int, asm volatile("rem.s32 %0, %0, %1;" : "+r"(x) : "r"(y)))
OP_I(add_s64, long long, asm volatile("add.s64 %0, %0, %1;" : "+l"(x) : "l"(y)))
OP_I(mad_lo_s64, long long, asm volatile("mad.lo.s64 %0, %0, %1, %1;" : "+l"(x) : "l"(y)))
OP_I(div_s64, long long, asm volatile("div.s64 %0, %0, %1;" : "+l"(x) : "l"(y)))
OP_I(div_s64_large, long long, x |= 1ll << 40; asm volatile("div.s64 %0, %0, %1;" : "+l"(x) : "l"(y)))
OP_I(hfma2, unsigned, asm volatile("fma.rn.f16x2 %0, %0, %1, %1;" : "+r"(x) : "r"(y)))
OP_I(hadd2_bf16, unsigned, asm volatile("fma.rn.bf16x2 %0, %0, %1, %1;" : "+r"(x) : "r"(y)))
OP_I(ex2_f16x2, unsigned, asm volatile("ex2.approx.f16x2 %0, %0;" : "+r"(x)))
OP_I(add_f64, double, asm volatile("add.rn.f64 %0, %0, %1;" : "+d"(x) : "d"(y)))
OP_I(fma_f64, double, asm volatile("fma.rn.f64 %0, %0, %1, %1;" : "+d"(x) : "d"(y)))
OP_I(div_f64, double, asm volatile("div.rn.f64 %0, %0, %1;" : "+d"(x) : "d"(y)))

static const int STEPS = 512, CHAINS = 4;

template <class OP, int N> __global__ void chains(typename OP::type y, long long *cycles)
{
    typename OP::type x[N];
    for (int k = 0; k < N; k++)
        x[k] = (typename OP::type)(threadIdx.x + k + 3);
    for (int i = 0; i < 32; i++)
        for (int k = 0; k < N; k++)
            x[k] = OP::apply(x[k], y);
    __syncthreads();
    long long start = ticks();
#pragma unroll 16
    for (int i = 0; i < STEPS; i++)
#pragma unroll
        for (int k = 0; k < N; k++)
            x[k] = OP::apply(x[k], y);
    __syncthreads();
    long long end = ticks();
    typename OP::type sum = x[0];
    for (int k = 1; k < N; k++)
        sum = sum + x[k];
    if (threadIdx.x == 0)
        cycles[0] = end - start;
    cycles[1 + (threadIdx.x == 0)] = (long long)sum;
}

template <class OP> void instruction()
{
    // Floats stay in their range when divided by 1; integers get an ordinary divisor.
    typename OP::type y = (typename OP::type)(std::is_integral<typename OP::type>::value ? 3 : 1);
    double one = cycles_of([&] { chains<OP, 1><<<1, 32, 0, gpu_clock.stream>>>(y, device_cycles); });
    double many = cycles_of([&] { chains<OP, CHAINS><<<1, 1024, 0, gpu_clock.stream>>>(y, device_cycles); });
    put("instruction", OP::label(), "latency", one / STEPS, "cycles");
    put("instruction", OP::label(), "throughput", 1024.0 * CHAINS * STEPS / many, "lanes per cycle and SM");
}

template <class... OPS> void instructions()
{
    (instruction<OPS>(), ...);
}

// Synchronisation and atomics.

__global__ void barriers(long long *cycles)
{
    __syncthreads();
    long long start = ticks();
#pragma unroll 8
    for (int i = 0; i < 256; i++)
        __syncthreads();
    if (threadIdx.x == 0)
        cycles[0] = ticks() - start;
}

// spread: 0 every lane the same word, 1 a word a lane, 2 random among 256 words; with or without the old value.
template <bool RETURNS> __global__ void shared_atomics(int spread, long long *cycles)
{
    __shared__ unsigned words[1024];
    words[threadIdx.x] = 0;
    __syncthreads();
    unsigned at = spread == 0 ? 0 : threadIdx.x, old = 0, seed = threadIdx.x * 2654435761u + 1;
    long long start = ticks();
    for (int i = 0; i < 256; i++) {
        if (spread == 2) {
            seed = seed * 1664525u + 1013904223u;
            at = seed >> 24;
        }
        if (RETURNS)
            old = atomicAdd(&words[(at + (old >> 31)) & 1023], 1u);
        else
            atomicAdd(&words[at], 1u);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        cycles[0] = ticks() - start;
    cycles[1] = old;
}

__global__ void chase_atomic(unsigned *word, int steps, long long *cycles)
{
    unsigned old = 0;
    long long start = ticks();
    for (int i = 0; i < steps; i++)
        old = atomicAdd(word + (old >> 31), 1u);
    cycles[0] = ticks() - start;
    cycles[1] = old;
}

// spread 0: all the same word; 1: lanes on neighbouring words, every block the same; 2: random in 2^20 words.
__global__ void global_atomics(unsigned *words, int spread, int steps)
{
    unsigned id = blockIdx.x * blockDim.x + threadIdx.x, seed = id * 2654435761u + 1;
    for (int i = 0; i < steps; i++) {
        seed = seed * 1664525u + 1013904223u;
        atomicAdd(words + (spread == 0 ? 0 : spread == 1 ? threadIdx.x : seed >> 12), 1u);
    }
}

// Bandwidth.

template <int UNROLL> __global__ void read_kernel(const uint4 *from, size_t n, uint4 *sink)
{
    uint4 sum = {0, 0, 0, 0};
    size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += stride * UNROLL) {
        uint4 v[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            v[k] = i + k * stride < n ? __ldcg(from + i + k * stride) : uint4{0, 0, 0, 0};
#pragma unroll
        for (int k = 0; k < UNROLL; k++) {
            sum.x ^= v[k].x;
            sum.y ^= v[k].y;
            sum.z ^= v[k].z;
            sum.w ^= v[k].w;
        }
    }
    if (sum.x == 0x12345 && sum.y == 0x54321)
        *sink = sum;
}

__global__ void write_kernel(uint4 *to, size_t n, unsigned value)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = uint4{value, (unsigned)i, value, value};
}

template <typename T> __global__ void copy_kernel(T *to, const T *from, size_t n)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[i];
}

__global__ void empty_kernel()
{
}

static const size_t POOL = (size_t)4 << 30;

// Rotates over the pool (cold) or stays at its start (hot).
static int launches_for(size_t bytes, bool cold)
{
    double us = bytes / 4e6 + 1;
    double wanted = std::max(500 / us, cold ? 240e6 / bytes : 4.0);
    return (int)std::min(std::max(wanted, 4.0), 4000.0);
}

static void bandwidth(char *pool)
{
    cudaStream_t s = gpu_clock.stream;
    for (size_t kib : {16, 64, 256, 1024, 4096, 8192, 16384, 32768, 65536, 262144, 1048576})
        for (bool cold : {true, false}) {
            if (cold && kib < 64)
                continue; // so many launches that exceed the L2 do not fit into a graph
            size_t bytes = kib << 10, n = bytes / 16, slots = cold ? POOL / 2 / bytes : 1;
            slots = std::max<size_t>(slots, 1);
            int count = launches_for(bytes, cold);
            unsigned blocks = (unsigned)((n + 127) / 128);
            const char *regime = cold ? "cold" : "hot";
            std::string size = std::to_string(kib) + " KiB " + regime;
            auto at = [=](int i) { return (uint4 *)(pool + (i % slots) * bytes); };
            double us = median_us(count, [&](int i) {
                read_kernel<1><<<blocks, 128, 0, s>>>(at(i), n, (uint4 *)(pool + POOL - 64));
            });
            put("bandwidth", "read", size, us, "us");
            us = median_us(count, [&](int i) { write_kernel<<<blocks, 128, 0, s>>>(at(i), n, i); });
            put("bandwidth", "write", size, us, "us");
            us = median_us(count, [&](int i) {
                copy_kernel<uint4><<<blocks, 128, 0, s>>>((uint4 *)((char *)at(i) + POOL / 2), at(i), n);
            });
            put("bandwidth", "copy 16 B", size, us, "us");
            if (kib >= 1024 && kib <= 65536) {
                us = median_us(count, [&](int i) {
                    copy_kernel<float>
                        <<<blocks * 4, 128, 0, s>>>((float *)((char *)at(i) + POOL / 2), (float *)at(i), n * 4);
                });
                put("bandwidth", "copy 4 B", size, us, "us");
                us = median_us(count, [&](int i) {
                    copy_kernel<uint16_t><<<blocks * 8, 128, 0, s>>>((uint16_t *)((char *)at(i) + POOL / 2),
                                                                     (uint16_t *)at(i), n * 8);
                });
                put("bandwidth", "copy 2 B", size, us, "us");
            }
        }
    for (size_t kib : {1024, 16384, 262144})
        for (unsigned threads : {64, 256, 512, 1024}) {
            size_t bytes = kib << 10, n = bytes / 16, slots = POOL / 2 / bytes;
            double us = median_us(launches_for(bytes, true), [&](int i) {
                uint4 *from = (uint4 *)(pool + (i % slots) * bytes);
                copy_kernel<uint4><<<(unsigned)((n + threads - 1) / threads), threads, 0, s>>>(
                    (uint4 *)((char *)from + POOL / 2), from, n);
            });
            put("bandwidth", "copy 16 B", std::to_string(kib) + " KiB cold; block " + std::to_string(threads),
                us, "us");
        }
}

// Reading with few threads: bytes in flight against bandwidth, from DRAM (a long stream) and from L2 (24 MiB
// again).
static void in_flight(char *pool)
{
    cudaStream_t s = gpu_clock.stream;
    for (bool cold : {true, false})
        for (unsigned threads : {32, 64, 128, 256, 512, 1024}) {
            size_t bytes = cold ? (size_t)128 << 20 : (size_t)24 << 20, n = bytes / 16;
            auto at = [=](int i) { return (const uint4 *)(pool + (cold ? i % 16 * bytes : 0)); };
            uint4 *sink = (uint4 *)(pool + POOL - 64);
            for (unsigned per_sm : {1u, 2u}) {
                std::string what = (cold ? "DRAM; " : "L2; ") + std::to_string(threads * per_sm) +
                                   " threads an SM in blocks of " + std::to_string(threads);
                double us = median_us(
                    4, [&](int i) { read_kernel<1><<<sms * per_sm, threads, 0, s>>>(at(i), n, sink); }, 5);
                put("in flight", "1 x 16 B", what, bytes / us * 1e-6, "TB/s");
                us = median_us(
                    4, [&](int i) { read_kernel<4><<<sms * per_sm, threads, 0, s>>>(at(i), n, sink); }, 5);
                put("in flight", "4 x 16 B", what, bytes / us * 1e-6, "TB/s");
            }
        }
    for (unsigned blocks : {1u, 8u, 33u, 66u, 132u}) { // how much of the bandwidth one SM can take
        size_t bytes = (size_t)16 << 20, n = bytes / 16;
        double us = median_us(
            4,
            [&](int) {
                read_kernel<4><<<blocks, 1024, 0, s>>>((const uint4 *)pool, n, (uint4 *)(pool + POOL - 64));
            },
            5);
        put("in flight", "4 x 16 B", "L2; " + std::to_string(blocks) + " blocks of 1024", bytes / us * 1e-6,
            "TB/s");
    }
}

static void launches()
{
    cudaStream_t s = gpu_clock.stream;
    for (unsigned threads : {32, 128, 256, 1024})
        for (unsigned blocks : {1u, 132u, 264u, 1000u, 10000u, 100000u, 1000000u}) {
            int count = blocks > 10000 ? 4 : 200;
            double us = median_us(count, [&](int) { empty_kernel<<<blocks, threads, 0, s>>>(); });
            put("launch", "empty", std::to_string(blocks) + " blocks of " + std::to_string(threads), us, "us");
        }
}

static void synchronisation(char *pool)
{
    cudaStream_t s = gpu_clock.stream;
    for (int threads : {32, 64, 128, 256, 512, 1024})
        put("barrier", "bar.sync", std::to_string(threads) + " threads",
            cycles_of([&] { barriers<<<1, threads, 0, s>>>(device_cycles); }) / 256, "cycles");
    const char *spreads[] = {"same word", "word a lane", "random of 256"};
    for (int spread = 0; spread < 3; spread++)
        for (int threads : {32, 128, 1024}) {
            std::string what = std::string(spreads[spread]) + "; " + std::to_string(threads) + " threads";
            put("atomic", "atom.shared", what,
                cycles_of([&] { shared_atomics<true><<<1, threads, 0, s>>>(spread, device_cycles); }) / 256,
                "cycles");
            put("atomic", "red.shared", what,
                cycles_of([&] { shared_atomics<false><<<1, threads, 0, s>>>(spread, device_cycles); }) / 256,
                "cycles");
        }
    unsigned *words = (unsigned *)pool;
    CUDA(cudaMemset(words, 0, 8 << 20));
    put("atomic", "atom.global", "dependent chain",
        cycles_of([&] { chase_atomic<<<1, 1, 0, s>>>(words, 1024, device_cycles); }) / 1024, "cycles");
    const char *where[] = {"same word", "word a lane", "random of 2^20"};
    for (int spread = 0; spread < 3; spread++)
        for (int blocks : {1, sms, 8 * sms}) {
            int steps = spread == 2 || blocks == 1 ? 256 : 64;
            double us = median_us(
                4, [&](int) { global_atomics<<<blocks, 256, 0, s>>>(words, spread, steps); }, 5);
            put("atomic", "red.global",
                std::string(where[spread]) + "; " + std::to_string(blocks) + " blocks of 256",
                (double)blocks * 256 * steps / us * 1e-3, "G/s");
        }
}

static void memories()
{
    chase(16 << 10, 128, "L1 (ld.ca)", 0, false);
    chase(16 << 10, 128, "L1 (ld.nc)", 2, false);
    chase(128 << 10, 128, "L1 (ld.ca)", 0, false);
    for (size_t mib : {1, 4, 16, 24, 32, 48, 64})
        chase(mib << 20, 512, "L2 (ld.cg)", 1, false);
    chase((size_t)8 << 20, 4096, "DRAM after flush (ld.cg)", 1, true);
    chase((size_t)256 << 20, 16384, "DRAM after flush (ld.cg)", 1, true);
    chase((size_t)1 << 30, 65536, "DRAM after flush (ld.cg)", 1, true);
    put("latency", "shared", "1 KiB",
        cycles_of([&] { chase_shared<<<1, 1, 0, gpu_clock.stream>>>(4096, device_cycles); }) / 4096, "cycles");
}

// The clock in force: cycles against the global timer over about 20 ms of work on every SM.
__global__ void count_clock(long long *cycles, unsigned long long ns)
{
    unsigned long long start, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    long long first = ticks();
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - start < ns);
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        cycles[0] = ticks() - first;
        cycles[1] = (long long)(now - start);
    }
}

static void sm_clock(const char *when)
{
    long long got[2];
    count_clock<<<sms, 128, 0, gpu_clock.stream>>>(device_cycles, 20000000);
    CUDA(cudaGetLastError());
    CUDA(cudaStreamSynchronize(gpu_clock.stream));
    CUDA(cudaMemcpy(got, device_cycles, sizeof got, cudaMemcpyDeviceToHost));
    put("clock", "SM", when, 1e3 * got[0] / got[1], "MHz");
}

int main(int argc, char **argv)
{
    csv = argc == 2 ? fopen(argv[1], "w") : nullptr;
    if (!csv) {
        fprintf(stderr, "usage: micro OUT.csv\n");
        return 2;
    }
    fprintf(csv, "group,name,parameter,value,unit\n");
    try {
        char *pool;
        CUDA(cudaSetDevice(0));
        CUDA(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
        gpu_clock.open();
        CUDA(cudaMalloc((void **)&device_cycles, 64));
        CUDA(cudaMalloc((void **)&pool, POOL));
        CUDA(cudaMemset(pool, 0x5a, POOL));
        const struct {
            const char *name;
            cudaDeviceAttr attribute;
        } attributes[] = {{"SMs", cudaDevAttrMultiProcessorCount},
                          {"L2 bytes", cudaDevAttrL2CacheSize},
                          {"shared bytes an SM", cudaDevAttrMaxSharedMemoryPerMultiprocessor},
                          {"threads an SM", cudaDevAttrMaxThreadsPerMultiProcessor},
                          {"blocks an SM", cudaDevAttrMaxBlocksPerMultiprocessor},
                          {"memory bus bits", cudaDevAttrGlobalMemoryBusWidth}};
        for (auto &a : attributes) {
            int value;
            CUDA(cudaDeviceGetAttribute(&value, a.attribute, 0));
            put("device", a.name, "", value, "");
        }
        sm_clock("before");
        memories();
        instructions<add_f32, fma_f32, max_f32, ex2_approx, lg2_approx, rcp_approx, rsqrt_approx, sqrt_approx,
                     sin_approx, tanh_approx, div_approx, div_full, div_rn, rcp_rn, sqrt_rn, cvt_f32_f16_f32,
                     cvt_f32_s32_f32, shfl_bfly, add_s32, lop_b32, shl_b32, mad_lo_s32, mul_hi_u32, popc_b32,
                     prmt_b32, div_s32, rem_s32, add_s64, mad_lo_s64, div_s64, div_s64_large, hfma2, hadd2_bf16,
                     ex2_f16x2, add_f64, fma_f64, div_f64>();
        synchronisation(pool);
        launches();
        in_flight(pool);
        CUDA(cudaMemset(pool, 0x5a, POOL));
        bandwidth(pool);
        sm_clock("after");
        if (gpu_clock.timeouts())
            fprintf(stderr, "micro: %d waits for the host timed out\n", gpu_clock.timeouts());
    } catch (const std::exception &failure) {
        fprintf(stderr, "micro: %s\n", failure.what());
        return 1;
    }
    return 0;
}
