// What a warp waits for that others have asked for: loads of lines on their way, lines that the L1 keeps beside other warps'
// and beside stores, narrow loads that hit it, lanes that come apart, and loads of what other blocks begin with.
// `late OUT.csv` writes group,name,parameter,value,unit as micro does.
#include "figures.cuh"
#include <cstdint>

static char *pool;
static const size_t POOL = 1ull << 30;

static __device__ unsigned any(unsigned &seed)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
}

static __device__ __forceinline__ uint32_t word(const void *p)
{
    uint32_t v;
    asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v) : "l"(p));
    return v;
}

static __device__ __forceinline__ uint32_t half(const void *p)
{
    uint16_t v;
    asm volatile("ld.global.ca.u16 %0, [%1];" : "=h"(v) : "l"(p));
    return v;
}

// ---- words of one sector, one load after the other ----

// Lanes go to lines anywhere in a table and load four words there: by one load, or by four.
template <bool WIDE> __global__ void together(const char *p, uint32_t lines, int steps, uint32_t *out)
{
    unsigned seed = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u + 1;
    uint32_t sum = 0;
    for (int i = 0; i < steps; i++) {
        const char *at = p + (size_t)(any(seed) & (lines - 1)) * 128;
        uint32_t v[4];
        if (WIDE)
            asm volatile("ld.global.ca.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "l"(at));
        else
            for (int k = 0; k < 4; k++)
                v[k] = word(at + 4 * k);
        sum += v[0] + v[1] + v[2] + v[3];
        seed += v[0]; // the next place waits for it
    }
    if (sum == 1)
        *out = sum;
}

// ---- lines that stay in the L1 ----

// Each warp goes round `lines` lines of its own, side by side with the others; then it stores nothing (0), into the same
// lines (1), or into as many others (2).
__global__ void rounds(char *p, int lines, int steps, int stores, long long *cycles)
{
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    char *own = p + ((size_t)warp * lines + lane) * 128, *other = own + (size_t)(blockDim.x / 32) * lines * 128;
    uint32_t sum = 0;
    long long start = 0;
    for (int i = -1; i < steps; i++) {
        for (int k = 0; k < lines; k += 32) {
            sum += word(own + (size_t)k * 128 + 4 * (i & 7));
            if (stores)
                *(volatile uint32_t *)((stores == 1 ? own : other) + (size_t)k * 128 + 4 * (i & 7)) = 0;
        }
        __syncwarp();
        if (i < 0) {
            __syncthreads();
            start = ticks();
        }
    }
    __syncthreads();
    if (threadIdx.x == 0)
        cycles[0] = ticks() - start;
    cycles[1] = sum;
}

// ---- narrow loads ----

// Eight loads that hit the L1: of `lanes` different places, each for 32 / lanes lanes, two or four bytes wide.
template <bool HALF> __global__ void narrow(const char *p, int lanes, int steps, long long *cycles)
{
    const char *at = p + threadIdx.x % 32 * lanes / 32 * (HALF ? 2 : 4);
    uint32_t sum = word(p + threadIdx.x % 32 * 4);
    __syncthreads();
    long long start = ticks();
    for (int i = 0; i < steps; i++)
#pragma unroll
        for (int k = 0; k < 8; k++)
            sum += HALF ? half(at + 128 * k) : word(at + 128 * k);
    __syncthreads();
    if (threadIdx.x == 0)
        cycles[0] = ticks() - start;
    cycles[1] = sum;
}

// ---- lanes that come apart ----

// DEPTH branches, one in the other, each of which half of the lanes or all of them take.
template <int DEPTH> __global__ void apart(unsigned taken, int steps, long long *cycles)
{
    unsigned lane = threadIdx.x % 32, x = lane, mask = taken;
    __syncthreads();
    long long start = ticks();
    for (int i = 0; i < steps; i++) {
        x = x * 3 + 1;
        if (DEPTH > 0 && mask >> lane & 1) {
            asm volatile("xor.b32 %0, %0, 5;" : "+r"(x)::"memory");
            if (DEPTH > 1 && mask >> lane / 2 & 1) {
                asm volatile("add.u32 %0, %0, 7;" : "+r"(x)::"memory");
                for (unsigned k = x & 1; k < 2; k++) // no predicate holds a loop
                    asm volatile("xor.b32 %0, %0, 9;" : "+r"(x)::"memory");
            }
            for (unsigned k = x & 1; k < 1; k++)
                asm volatile("xor.b32 %0, %0, 3;" : "+r"(x)::"memory");
        }
        __syncwarp();
    }
    __syncthreads();
    if (threadIdx.x == 0)
        cycles[0] = ticks() - start;
    cycles[1] = x;
}

// ---- what other blocks begin with ----

// Each block begins with a part of the table of its own and then goes to words anywhere in it, or in the part that it began
// with; what block 0 waits each time. A launch before it has taken the table out of the L2.
__global__ void second(const char *p, uint32_t words, int own, long long *cycles)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, part = own ? blockDim.x : words;
    long long start = ticks();
    uint32_t first = word(p + (size_t)(i % words) * 4);
    __syncthreads(); // nobody's second load goes ahead
    if (first == 1)
        cycles[3] = first;
    long long then = ticks();
    uint32_t at = (i * 2654435761u >> 7) % part + (own ? blockIdx.x * blockDim.x % words : 0);
    uint32_t next = word(p + (size_t)at * 4);
    if (next == 1)
        cycles[3] = next;
    __syncthreads();
    if (i == 0) {
        cycles[0] = then - start;
        cycles[1] = ticks() - then;
    }
}

static void put_second()
{
    cudaStream_t s = gpu_clock.stream;
    for (uint32_t kib : {16, 64, 256, 4096})
        for (int own : {0, 1})
            for (int which : {0, 1}) {
                uint32_t words = kib * 256;
                long long got[2], sum = 0;
                for (int i = -1; i < 16; i++) {
                    CUDA(cudaMemsetAsync(pool + POOL / 2, i & 1, POOL / 2, s));
                    second<<<words / 256, 256, 0, s>>>(pool, words, own, device_cycles);
                    CUDA(cudaGetLastError());
                    CUDA(cudaStreamSynchronize(s));
                    CUDA(cudaMemcpy(got, device_cycles, sizeof got, cudaMemcpyDeviceToHost));
                    sum += i < 0 ? 0 : got[which];
                }
                put("begins", which ? "second load" : "first load",
                    std::to_string(kib) + " KiB; " + (own ? "of its own" : "of all"), (double)sum / 16, "cycles");
            }
}

static void measure()
{
    cudaStream_t s = gpu_clock.stream;
    uint32_t *none;
    CUDA(cudaMalloc((void **)&pool, POOL));
    CUDA(cudaMemset(pool, 0, POOL));
    none = (uint32_t *)(pool + POOL - 4096);

    for (uint32_t kib : {64, 512, 16384})
        for (int blocks : {132, 528, 1056, 2112})
            for (bool wide : {true, false}) {
                int steps = 128;
                uint32_t lines = kib * 8;
                double us = median_us(3, [&](int) {
                    if (wide)
                        together<true><<<blocks, 128, 0, s>>>(pool, lines, steps, none);
                    else
                        together<false><<<blocks, 128, 0, s>>>(pool, lines, steps, none);
                });
                put("together", wide ? "one load" : "four loads", std::to_string(kib) + " KiB; " + std::to_string(blocks) + " blocks of 128",
                    (double)blocks * 128 * steps / us * 1e-3, "G sectors/s");
            }

    for (int warps : {4, 16, 32})
        for (int lines : {32, 64, 128, 256})
            for (int shared : {0, 50, 100})
                for (int stores : {0, 1, 2}) {
                    CUDA(cudaFuncSetAttribute(rounds, cudaFuncAttributePreferredSharedMemoryCarveout, shared));
                    put("keeps", stores == 0 ? "no stores" : stores == 1 ? "stores in place" : "stores elsewhere",
                        std::to_string(warps) + " warps; " + std::to_string(lines) + " lines each; " + std::to_string(shared) + " % shared",
                        cycles_of([&] { rounds<<<1, warps * 32, 0, s>>>(pool, lines, 64, stores, device_cycles); }) / 64 / (warps * lines / 32), "cycles");
                }

    for (int threads : {32, 1024})
        for (int lanes : {1, 2, 16, 32}) {
            std::string where = std::to_string(lanes) + " places; " + std::to_string(threads) + " threads";
            put("narrow", "2 B", where, cycles_of([&] { narrow<true><<<1, threads, 0, s>>>(pool, lanes, 64, device_cycles); }) / 512 / (threads / 32), "cycles");
            put("narrow", "4 B", where, cycles_of([&] { narrow<false><<<1, threads, 0, s>>>(pool, lanes, 64, device_cycles); }) / 512 / (threads / 32), "cycles");
        }

    for (unsigned taken : {~0u, 0u, 0x55555555u, 1u})
        for (int threads : {32, 128, 1024}) {
            std::string where = std::to_string(__builtin_popcount(taken)) + " lanes; " + std::to_string(threads) + " threads";
            put("apart", "no branch", where, cycles_of([&] { apart<0><<<1, threads, 0, s>>>(taken, 256, device_cycles); }) / 256, "cycles");
            put("apart", "one branch", where, cycles_of([&] { apart<1><<<1, threads, 0, s>>>(taken, 256, device_cycles); }) / 256, "cycles");
            put("apart", "two, one in the other", where, cycles_of([&] { apart<2><<<1, threads, 0, s>>>(taken, 256, device_cycles); }) / 256, "cycles");
        }

    put_second();
}

int main(int argc, char **argv)
{
    return write_figures(argc, argv, "late", measure);
}
