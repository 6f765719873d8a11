// What micro.cu leaves open for the clock: pairs of integer instructions that the compiler cannot merge, loads that hit the
// L1 by their number of lines, a load's latency on the way through the L1, chains of loads in small launches, rows read a sector at a time, and blocks that read the same bytes. `issue OUT.csv` writes
// group,name,parameter,value,unit as micro does.
#include "figures.cuh"
#include <cstdint>
#include <numeric>
#include <random>

// One block of 1024 threads on one SM, four chains a thread; OP is one step of a chain.
#define STEP(name, code)                                                                 \
    struct name {                                                                        \
        __device__ static void apply(int &x, int y, int z)                               \
        {                                                                                \
            code;                                                                        \
        }                                                                                \
        static const char *label()                                                       \
        {                                                                                \
            return #name;                                                                \
        }                                                                                \
    };
STEP(add_xor, asm volatile("add.s32 %0, %0, %1; xor.b32 %0, %0, %2;" : "+r"(x) : "r"(y), "r"(z)))
STEP(mad_xor, asm volatile("mad.lo.s32 %0, %0, %1, %2; xor.b32 %0, %0, %2;" : "+r"(x) : "r"(y), "r"(z)))
STEP(mad_add1, asm volatile("mad.lo.s32 %0, %0, %1, %2; add.s32 %0, %0, 1;" : "+r"(x) : "r"(y), "r"(z)))
STEP(mad_max, asm volatile("mad.lo.s32 %0, %0, %1, %2; max.s32 %0, %0, %1;" : "+r"(x) : "r"(y), "r"(z)))
STEP(mad_setp_selp, asm volatile("{.reg .pred p; mad.lo.s32 %0, %0, %1, %2; setp.lt.s32 p, %0, %1; selp.b32 %0, %2, %0, p;}"
                                 : "+r"(x) : "r"(y), "r"(z)))
STEP(mad_setp_setp_selp, asm volatile("{.reg .pred p, q; mad.lo.s32 %0, %0, %1, %2; setp.lt.s32 p, %0, %1; "
                                      "setp.gt.and.s32 q, %0, %2, p; selp.b32 %0, %2, %0, q;}" : "+r"(x) : "r"(y), "r"(z)))
STEP(setp_add1, asm volatile("{.reg .pred p; setp.lt.s32 p, %0, %1; @p add.s32 %0, %0, 1; @!p xor.b32 %0, %0, %2;}"
                             : "+r"(x) : "r"(y), "r"(z)))
STEP(setp_never_add1, asm volatile("{.reg .pred p; setp.lt.s32 p, %0, %1; @p add.s32 %0, %0, %2; @p xor.b32 %0, %0, %2;}"
                                   : "+r"(x) : "r"(-2147483647 - 1), "r"(z)))
STEP(mad_prmt, asm volatile("mad.lo.s32 %0, %0, %1, %2; prmt.b32 %0, %0, %1, 0x3021;" : "+r"(x) : "r"(y), "r"(z)))

// Halves, two in a word: operations of them, alone and beside one of the integers' pipe.
STEP(hadd2, asm volatile("add.rn.f16x2 %0, %0, %1;" : "+r"(x) : "r"(y)))
STEP(hmul2, asm volatile("mul.rn.f16x2 %0, %0, %1;" : "+r"(x) : "r"(y)))
STEP(hfma2, asm volatile("fma.rn.f16x2 %0, %0, %1, %2;" : "+r"(x) : "r"(y), "r"(z)))
STEP(hadd2_xor, asm volatile("add.rn.f16x2 %0, %0, %1; xor.b32 %0, %0, %2;" : "+r"(x) : "r"(y), "r"(z)))
STEP(hmul2_xor, asm volatile("mul.rn.f16x2 %0, %0, %1; xor.b32 %0, %0, %2;" : "+r"(x) : "r"(y), "r"(z)))
STEP(hfma2_xor, asm volatile("fma.rn.f16x2 %0, %0, %1, %2; xor.b32 %0, %0, %2;" : "+r"(x) : "r"(y), "r"(z)))
STEP(hadd2_ffma, asm volatile("add.rn.f16x2 %0, %0, %1; fma.rn.f32 %0, %0, %1, %2;" : "+r"(x) : "r"(y), "r"(z)))
STEP(hadd2_xor_prmt, asm volatile("add.rn.f16x2 %0, %0, %1; xor.b32 %0, %0, %2; prmt.b32 %0, %0, %1, 0x3021;"
                                  : "+r"(x) : "r"(y), "r"(z)))
STEP(hadd2_hadd2_xor, asm volatile("add.rn.f16x2 %0, %0, %1; add.rn.f16x2 %0, %0, %2; xor.b32 %0, %0, %2;"
                                   : "+r"(x) : "r"(y), "r"(z)))
STEP(hsetp2_selp, asm volatile("{.reg .pred p, q; setp.lt.f16x2 p|q, %0, %1; selp.b32 %0, %2, %0, p;}" : "+r"(x) : "r"(y), "r"(z)))
STEP(hsetp2_selp_xor, asm volatile("{.reg .pred p, q; setp.lt.f16x2 p|q, %0, %1; selp.b32 %0, %2, %0, p; xor.b32 %0, %0, %1;}"
                                   : "+r"(x) : "r"(y), "r"(z)))
STEP(fsetp_selp, asm volatile("{.reg .pred p; setp.lt.f32 p, %0, %1; selp.b32 %0, %2, %0, p;}" : "+r"(x) : "r"(y), "r"(z)))
STEP(hmax2, asm volatile("max.f16x2 %0, %0, %1; add.rn.f16x2 %0, %0, %2;" : "+r"(x) : "r"(y), "r"(z)))
STEP(widen_xor, asm volatile("{.reg .b16 l, h; mov.b32 {l, h}, %0; cvt.f32.f16 %0, l; xor.b32 %0, %0, %1;}" : "+r"(x) : "r"(y)))
STEP(narrow_xor, asm volatile("cvt.rn.f16x2.f32 %0, %0, %1; xor.b32 %0, %0, %2;" : "+r"(x) : "r"(y), "r"(z)))
STEP(narrow, asm volatile("cvt.rn.f16x2.f32 %0, %0, %1;" : "+r"(x) : "r"(y)))
STEP(rcp_xor_xor, asm volatile("rcp.approx.ftz.f32 %0, %0; xor.b32 %0, %0, %1; prmt.b32 %0, %0, %1, 0x3021;" : "+r"(x) : "r"(y)))
STEP(from_s32_xor, asm volatile("cvt.rn.f32.s32 %0, %0; xor.b32 %0, %0, %1;" : "+r"(x) : "r"(y)))
STEP(from_u8_xor, asm volatile("{.reg .b32 t; and.b32 t, %0, 15; cvt.rn.f32.u32 %0, t; xor.b32 %0, %0, %1;}" : "+r"(x) : "r"(y)))
STEP(umulhi_xor, asm volatile("mul.hi.u32 %0, %0, %1; xor.b32 %0, %0, %2;" : "+r"(x) : "r"(y), "r"(z)))
STEP(wide_xor, asm volatile("{.reg .b64 t; mul.wide.s32 t, %0, %1; mov.b64 {%0, _}, t; xor.b32 %0, %0, %2;}" : "+r"(x) : "r"(y), "r"(z)))

template <class OP> __global__ void chains(int y, int z, long long *cycles)
{
    int x[4];
    for (int k = 0; k < 4; k++)
        x[k] = threadIdx.x + k;
    __syncthreads();
    long long start = ticks();
#pragma unroll 16
    for (int i = 0; i < 512; i++)
#pragma unroll
        for (int k = 0; k < 4; k++)
            OP::apply(x[k], y, z);
    __syncthreads();
    long long end = ticks();
    if (threadIdx.x == 0)
        cycles[0] = end - start;
    cycles[1 + (threadIdx.x == 0)] = x[0] + x[1] + x[2] + x[3];
}

template <class OP> static void pair()
{
    double many = cycles_of([&] { chains<OP><<<1, 1024, 0, gpu_clock.stream>>>(3, 5, device_cycles); });
    put("pair", OP::label(), "throughput", 1024.0 * 4 * 512 / many, "steps of a lane per cycle and SM");
}

// Loads that hit the L1, one after the other: a warp's lanes touch `lines` lines.
__global__ void l1_loads(const volatile int *p, int lines, long long *cycles)
{
    int lane = threadIdx.x % 32, at = lane % lines * 32 + lane / lines, sum = ((const int *)p)[at];
    __syncthreads();
    long long start = ticks();
#pragma unroll 8
    for (int i = 0; i < 256; i++)
        sum = p[at + (sum & 0)];
    __syncthreads();
    if (threadIdx.x == 0)
        cycles[0] = ticks() - start;
    cycles[1] = sum;
}

__global__ void chase(const uint32_t *next, int warm, int steps, long long *cycles)
{
    uint32_t at = 0;
    for (int i = 0; i < warm; i++)
        at = __ldcg(next + at);
    long long start = ticks();
#pragma unroll 16
    for (int i = 0; i < steps; i++) {
        uint32_t v;
        asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v) : "l"(next + at) : "memory");
        at = v;
    }
    cycles[0] = ticks() - start;
    cycles[1] = at;
}

static void chase_through_l1(char *pool)
{
    for (size_t kib : {8192, 32768}) {
        size_t n = kib * 2, per = 128;
        std::vector<uint32_t> order(n), host(n * per, 0);
        std::iota(order.begin(), order.end(), 0);
        std::mt19937 rng(7);
        std::shuffle(order.begin() + 1, order.end(), rng);
        for (size_t i = 0; i < n; i++)
            host[order[i] * per] = (uint32_t)(order[(i + 1) % n] * per);
        CUDA(cudaMemcpy(pool, host.data(), n * per * 4, cudaMemcpyHostToDevice));
        put("latency", "L2 (ld.ca)", std::to_string(kib) + " KiB; step 512",
            cycles_of([&] { chase<<<1, 1, 0, gpu_clock.stream>>>((uint32_t *)pool, (int)n, 4096, device_cycles); }) / 4096,
            "cycles");
    }
}

// A launch whose threads make `steps` loads of 16 bytes, each address from the value before, and store one value.
__global__ void chain_kernel(uint4 *out, const uint4 *in, int n, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, at = i;
    uint4 v = {1, 2, 3, 4};
#pragma unroll 1
    for (int k = 0; k < steps; k++) {
        v = in[at];
        at = (int)(((unsigned)at + v.x) % (unsigned)n);
    }
    if (i < n)
        out[i] = v;
}

// A warp a row, as many rows as warps; BYTES a lane at once, UNROLL loads in flight.
template <typename T, int UNROLL> __global__ void rows_kernel(int *out, const T *in, int d)
{
    const T *row = in + (size_t)(blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32) * d;
    int sum = 0, lane = threadIdx.x % 32;
    for (int i = lane; i < d; i += 32 * UNROLL) {
        T v[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            v[k] = row[i + 32 * k];
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            sum += (int)v[k];
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Blocks of 256 that all read the same `common` vectors of 16 bytes, and each its own.
__global__ void common_kernel(unsigned *out, const uint4 *common, const uint4 *own, int n)
{
    unsigned sum = 0;
    for (int i = threadIdx.x; i < n; i += 256) {
        uint4 a = common[i], b = own[(size_t)blockIdx.x * n + i];
        sum += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    }
    out[blockIdx.x * 256 + threadIdx.x] = sum;
}

static void measure()
{
    cudaStream_t s = gpu_clock.stream;
    const size_t POOL = (size_t)3 << 30;
    char *pool;
    CUDA(cudaMalloc((void **)&pool, POOL));

    pair<add_xor>();
    pair<mad_xor>();
    pair<mad_add1>();
    pair<mad_max>();
    pair<mad_setp_selp>();
    pair<mad_setp_setp_selp>();
    pair<setp_add1>();
    pair<setp_never_add1>();
    pair<mad_prmt>();
    pair<hadd2>();
    pair<hmul2>();
    pair<hfma2>();
    pair<hadd2_xor>();
    pair<hmul2_xor>();
    pair<hfma2_xor>();
    pair<hadd2_ffma>();
    pair<hadd2_xor_prmt>();
    pair<hadd2_hadd2_xor>();
    pair<hsetp2_selp>();
    pair<hsetp2_selp_xor>();
    pair<fsetp_selp>();
    pair<hmax2>();
    pair<widen_xor>();
    pair<narrow>();
    pair<narrow_xor>();
    pair<rcp_xor_xor>();
    pair<from_s32_xor>();
    pair<from_u8_xor>();
    pair<umulhi_xor>();
    pair<wide_xor>();

    CUDA(cudaMemset(pool, 0, 1 << 20));
    for (int lines : {1, 8, 32})
        put("l1", "4 B volatile", std::to_string(lines) + " lines; 32 threads in turn",
            cycles_of([&] { l1_loads<<<1, 32, 0, s>>>((int *)pool, lines, device_cycles); }) / 256, "cycles");
    chase_through_l1(pool);

    // Contents are random: zeros are faster.
    {
        std::vector<uint32_t> host(64 << 20);
        std::mt19937 rng(11);
        for (uint32_t &x : host)
            x = rng();
        for (size_t at = 0; at < POOL; at += host.size() * 4)
            CUDA(cudaMemcpy(pool + at, host.data(), std::min(host.size() * 4, POOL - at), cudaMemcpyHostToDevice));
    }
    for (bool cold : {false, true})
        for (int blocks : {1, sms, 4 * sms, 16 * sms})
            for (int steps : {0, 1, 2, 4, 8}) {
                int threads = 128, n = blocks * threads;
                size_t bytes = (size_t)n * 16, slots = cold ? std::min<size_t>(POOL / 2 / bytes, 400) : 1;
                double us = median_us(200, [&](int i) {
                    char *at = pool + i % slots * bytes;
                    chain_kernel<<<blocks, threads, 0, s>>>((uint4 *)(at + POOL / 2), (const uint4 *)at, n, steps);
                });
                put("chain", std::to_string(steps) + " loads", std::to_string(blocks) + " blocks of 128" + (cold ? "; cold" : "; hot"), us, "us");
            }
    const int rows = 8448, d = 16384; // 138 MB of bytes
    put("rows", "1 B x 4", "8448 warps in blocks of 32", median_us(4, [&](int i) { rows_kernel<int8_t, 4><<<rows, 32, 0, s>>>((int *)(pool + POOL - (8 << 20)), (int8_t *)pool + (size_t)(i % 8) * rows * d, d); }), "us");
    put("rows", "1 B x 8", "8448 warps in blocks of 256", median_us(4, [&](int i) { rows_kernel<int8_t, 8><<<rows / 8, 256, 0, s>>>((int *)(pool + POOL - (8 << 20)), (int8_t *)pool + (size_t)(i % 8) * rows * d, d); }), "us");
    put("rows", "2 B x 8", "8448 warps in blocks of 256", median_us(4, [&](int i) { rows_kernel<int16_t, 8><<<rows / 8, 256, 0, s>>>((int *)(pool + POOL - (8 << 20)), (int16_t *)(pool + (size_t)(i % 8) * rows * d), d / 2); }), "us");
    put("rows", "4 B x 8", "8448 warps in blocks of 256", median_us(4, [&](int i) { rows_kernel<int, 8><<<rows / 8, 256, 0, s>>>((int *)(pool + POOL - (8 << 20)), (int *)(pool + (size_t)(i % 8) * rows * d), d / 4); }), "us");
    for (int n : {256, 1024, 4096, 16384})
        put("common", std::to_string(n * 16 / 1024) + " KiB", "of each block of 256 that and its own; 128 MiB in all; cold",
            median_us(4, [&](int i) { common_kernel<<<8388608 / n, 256, 0, s>>>((unsigned *)(pool + POOL - (64 << 20)), (uint4 *)(pool + POOL - (8 << 20)), (uint4 *)(pool + (size_t)(i % 8) * (128 << 20)), n); }), "us");
}

int main(int argc, char **argv)
{
    return write_figures(argc, argv, "issue", measure);
}
