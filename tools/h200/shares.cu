// What lanes, warps and SMs share, beside waits.cu: loads of which all lanes read the same word, additions to shared memory,
// the L2's latency by how much all SMs read, stores of single bytes, code that is seen first, and a launch's end. `shares OUT.csv` writes
// group,name,parameter,value,unit as micro does. nvcc -O3 -std=c++17 -arch=sm_90a -o shares tools/h200/shares.cu && ./shares OUT.csv
#include "figures.cuh"
#include <cstdint>

static char *pool;
static const size_t POOL = (size_t)1 << 30;

// ---- all lanes read the same ----

// Eight loads that wait for nothing, then their sum: WORDS of 4 bytes each, of one place a warp (stride 0) or a place a lane.
template <int WORDS, bool SHARED> __global__ void broadcast(const uint32_t *p, int stride, int steps, long long *cycles)
{
    __shared__ __align__(16) uint32_t table[8192];
    for (int i = threadIdx.x; i < 8192; i += blockDim.x)
        table[i] = p[i];
    __syncthreads();
    uint32_t lane = threadIdx.x % 32, sum = 0, from = lane * stride * WORDS * 4;
    uint32_t shared = (uint32_t)__cvta_generic_to_shared(table) + from;
    const char *global = (const char *)p + from;
    long long start = ticks();
    for (int i = 0; i < steps; i++) {
        uint32_t v[8][4];
#pragma unroll
        for (int k = 0; k < 8; k++) {
            uint32_t at = k * 16 * (stride ? 32 : 1);
            if (SHARED && WORDS == 4)
                asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v[k][0]), "=r"(v[k][1]), "=r"(v[k][2]), "=r"(v[k][3]) : "r"(shared + at));
            else if (SHARED)
                asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v[k][0]) : "r"(shared + at));
            else if (WORDS == 4)
                asm volatile("ld.global.ca.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v[k][0]), "=r"(v[k][1]), "=r"(v[k][2]), "=r"(v[k][3]) : "l"(global + at));
            else
                asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v[k][0]) : "l"(global + at));
        }
#pragma unroll
        for (int k = 0; k < 8; k++)
#pragma unroll
            for (int q = 0; q < WORDS; q++)
                sum ^= v[k][q];
        shared += sum & 1; // is 0, which the compiler does not know: the next loads wait
        global += sum & 1;
    }
    __syncthreads();
    if (threadIdx.x == 0)
        cycles[0] = ticks() - start;
    cycles[1] = sum;
}

template <int WORDS, bool SHARED> static void put_broadcast()
{
    const std::string name = std::string(SHARED ? "shared" : "L1") + "; " + std::to_string(WORDS * 4) + " B";
    for (int stride : {0, 1})
        for (int threads : {32, 256, 1024})
            put("eight loads", name, std::string(stride ? "a place a lane; " : "one place; ") + std::to_string(threads) + " threads",
                cycles_of([&] { broadcast<WORDS, SHARED><<<1, threads, 0, gpu_clock.stream>>>((uint32_t *)pool, stride, 256, device_cycles); }) / 256, "cycles");
}

// ---- additions to shared memory whose result nobody reads ----

enum { BY_ONE, BY_MANY, FLOATS };

template <int KIND> __global__ void additions(int spread, int by, long long *cycles)
{
    __shared__ int words[1024];
    words[threadIdx.x] = 0;
    __syncthreads();
    unsigned at = spread == 0 ? 0 : threadIdx.x, seed = threadIdx.x * 2654435761u + 1;
    long long start = ticks();
    for (int i = 0; i < 256; i++) {
        if (spread > 1) {
            seed = seed * 1664525u + 1013904223u;
            at = (seed >> 16) & (spread - 1);
        }
        if (KIND == BY_ONE)
            atomicAdd(&words[at], 1);
        else if (KIND == BY_MANY)
            atomicAdd(&words[at], by);
        else
            atomicAdd((float *)&words[at], (float)by);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        cycles[0] = ticks() - start;
    cycles[1] = words[at];
}

template <int KIND> static void put_additions(const char *name)
{
    for (int spread : {0, 1, 16, 64, 256, 1024})
        for (int threads : {32, 1024}) {
            std::string where = spread == 0 ? "one word" : spread == 1 ? "a word a lane" : "any of " + std::to_string(spread);
            put("additions", name, where + "; " + std::to_string(threads) + " threads",
                cycles_of([&] { additions<KIND><<<1, threads, 0, gpu_clock.stream>>>(spread, 3, device_cycles); }) / 256 / (threads / 32), "cycles");
        }
}

// ---- how far away the L2 is ----

// Each warp goes its own way through the first `lines` lines, all of which were read before; a load says where the next is.
__global__ void far_chase(const char *p, uint32_t lines, int steps, long long *cycles)
{
    uint32_t warp = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32, at = warp * 2654435761u % lines;
    long long start = ticks();
    for (int i = 0; i < steps; i++) {
        uint32_t v;
        asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(p + (size_t)at * 128 + lane * 4) : "memory");
        at = (uint32_t)(((uint64_t)(at * 1664525u + 1013904223u + v) * lines) >> 32);
    }
    if (threadIdx.x == 0)
        cycles[blockIdx.x == 0 ? 0 : 2] = ticks() - start;
    cycles[1] = at;
}

__global__ void touch(const uint4 *p, size_t n, uint4 *out)
{
    uint4 sum = {0, 0, 0, 0};
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
        uint4 v = __ldcg(p + i);
        sum.x ^= v.x ^ v.y ^ v.z ^ v.w;
    }
    if (sum.x == 1)
        *out = sum;
}

// ---- single bytes ----

// A transpose of bytes, naive: each lane of a warp stores to its own row, `rows` bytes further.
__global__ void turned_bytes(signed char *out, int rows)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    out[(size_t)x * rows + y] = (signed char)(x + y);
}

// ---- code that an SM sees first ----

// N products one after the other, four chains; straight, or the same number in a loop of 64.
template <int N, bool LOOP> __global__ void code(float *out, float x)
{
    float v[4] = {x, x + 1, x + 2, x + 3};
#pragma unroll 1
    for (int i = 0; i < (LOOP ? N / 64 : 1); i++)
#pragma unroll
        for (int k = 0; k < (LOOP ? 64 : N); k++)
            asm volatile("fma.rn.f32 %0, %0, %0, %1;" : "+f"(v[k % 4]) : "f"(x));
    if (v[0] + v[1] + v[2] + v[3] == 1)
        *out = 1;
}

template <int N> static void put_code()
{
    for (int blocks : {1, sms, 4 * sms})
        for (int threads : {32, 256}) {
            const std::string where = std::to_string(N) + "; " + std::to_string(blocks) + " blocks of " + std::to_string(threads);
            put("code", "straight", where, median_us(16, [&](int) { code<N, false><<<blocks, threads, 0, gpu_clock.stream>>>((float *)pool, 0.5f); }), "us");
            put("code", "a loop of 64", where, median_us(16, [&](int) { code<N, true><<<blocks, threads, 0, gpu_clock.stream>>>((float *)pool, 0.5f); }), "us");
        }
}

// ---- what a launch waits for at its end ----

// Nothing; a store; a load and a store that waits for it; two loads in turn and a store.
__global__ void ends(int *out, const int *in, int what)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x, v = at;
    if (what >= 2)
        v = __ldcg(in + at);
    if (what >= 3)
        v = __ldcg(in + at + v);
    if (what >= 1)
        out[at] = v;
}

static void measure()
{
    cudaStream_t s = gpu_clock.stream;
    CUDA(cudaMalloc((void **)&pool, POOL));
    CUDA(cudaMemset(pool, 0, POOL));

    put_broadcast<1, true>();
    put_broadcast<4, true>();
    put_broadcast<1, false>();
    put_broadcast<4, false>();
    put_additions<BY_ONE>("1");
    put_additions<BY_MANY>("3");
    put_additions<FLOATS>("3.0f");

    for (uint32_t mib : {1, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 48})
        for (int blocks : {1, sms})
            put("L2", "4 B a lane; 4 warps", std::to_string(blocks) + " SMs; " + std::to_string(mib) + " MiB", cycles_of([&] {
                    touch<<<4 * sms, 512, 0, s>>>((uint4 *)pool, (size_t)mib << 16, (uint4 *)(pool + POOL - 64));
                    touch<<<4 * sms, 512, 0, s>>>((uint4 *)pool, (size_t)mib << 16, (uint4 *)(pool + POOL - 64));
                    far_chase<<<blocks, 128, 0, s>>>(pool, mib << 13, 1024, device_cycles);
                }) / 1024, "cycles");

    for (int side : {128, 256, 512, 1024, 2048, 8192}) {
        double us = median_us(8, [&](int) { turned_bytes<<<dim3(side / 32, side / 8), dim3(32, 8), 0, s>>>((signed char *)pool, side); });
        put("bytes turned", std::to_string(side) + " x " + std::to_string(side), "naive", us, "us");
    }
    put_code<64>();
    put_code<256>();
    put_code<1024>();
    put_code<4096>();
    for (int blocks : {1, sms, 8 * sms})
        for (int what = 0; what < 4; what++)
            put("launch", std::vector<std::string>{"nothing", "a store", "a load, a store", "two loads, a store"}[what], std::to_string(blocks) + " blocks of 128",
                median_us(16, [&](int) { ends<<<blocks, 128, 0, s>>>((int *)(pool + (POOL >> 1)), (int *)pool, what); }), "us");
}

int main(int argc, char **argv)
{
    return write_figures(argc, argv, "shares", measure);
}
