// What a branch takes that the compiler leaves in, whose lanes go one way or both; and what of the lines that threads read
// again and again the L1 keeps, by how many threads there are. `branches OUT.csv` writes group,name,parameter,value,unit as
// micro does.
#include "figures.cuh"
#include <cstdint>

// ---- branches ----

enum { WORK = 8, IFS = 4 };

static __device__ __forceinline__ void work(uint32_t &x, uint32_t by)
{
#pragma unroll
    for (int k = 0; k < WORK; k++)
        asm volatile("xor.b32 %0, %0, %1;\n\tadd.u32 %0, %0, %1;" : "+r"(x) : "r"(by) : "memory"); // nothing becomes a guard
}

enum form { STRAIGHT, BY_LANE, BY_PARAMETER, EITHER };

// Four times in a row: work that all do, that lanes do whose bit is set, that all do whose parameter says so, or one of two
// pieces of work by the lane's bit. The next piece waits for the one before.
template <form FORM> __global__ void ifs(uint32_t taken, uint32_t by, int steps, long long *cycles)
{
    uint32_t lane = threadIdx.x % 32, x = lane;
    __syncthreads();
    long long start = ticks();
    for (int i = 0; i < steps; i++)
#pragma unroll
        for (int k = 0; k < IFS; k++) {
            bool mine = FORM == STRAIGHT || (FORM == BY_PARAMETER ? taken >> k & 1 : taken >> ((lane + 8 * k) & 31) & 1);
            if (mine)
                work(x, by);
            else if (FORM == EITHER)
                work(x, by + 1);
        }
    __syncthreads();
    if (threadIdx.x == 0)
        cycles[0] = ticks() - start;
    cycles[1] = x;
}

template <form FORM> static void put_ifs(const char *name, uint32_t taken, const char *lanes)
{
    for (int threads : {32, 128, 512, 1024})
        put("branches", name, std::string(lanes) + "; " + std::to_string(threads) + " threads",
            cycles_of([&] { ifs<FORM><<<1, threads, 0, gpu_clock.stream>>>(taken, 3, 256, device_cycles); }) / (256 * IFS), "cycles");
}

// ---- lines that stay in the L1 ----

// Each thread reads words of its own lines, in an order that only what it read says, or in a row; then it stores nothing, or a
// word into a line of its own elsewhere.
template <bool ANYWHERE, bool STORES> __global__ void fills(char *p, int lines, int steps, uint32_t *out)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x, n = (size_t)gridDim.x * blockDim.x;
    const char *own = p + i * lines * 128;
    char *other = p + (n * lines + i) * 128;
    uint32_t seed = (uint32_t)i * 2654435761u + 1, words = (uint32_t)lines * 32, sum = 0;
    for (int k = 0; k < steps; k++) {
        uint32_t at = ANYWHERE ? (seed >> 8) & (words - 1) : k & (words - 1), v;
        asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v) : "l"(own + 4 * at));
        sum += v;
        seed = seed * 1664525u + 1013904223u + v;
        if (STORES)
            asm volatile("st.global.u32 [%0], %1;" ::"l"(other + 4 * (k & 31)), "r"(sum));
    }
    if (sum == 1)
        *out = sum;
}

static void measure()
{
    cudaStream_t s = gpu_clock.stream;
    put_ifs<STRAIGHT>("no branch", 0, "all lanes");
    put_ifs<BY_LANE>("by lane", 0, "no lane");
    put_ifs<BY_LANE>("by lane", ~0u, "all lanes");
    put_ifs<BY_LANE>("by lane", 0x0f0f0f0fu, "half");
    put_ifs<BY_LANE>("by lane", 0x01010101u, "four");
    put_ifs<BY_PARAMETER>("by parameter", 0, "no lane");
    put_ifs<BY_PARAMETER>("by parameter", ~0u, "all lanes");
    put_ifs<EITHER>("either", 0, "no lane");
    put_ifs<EITHER>("either", 0x0f0f0f0fu, "half");

    char *pool;
    const size_t POOL = 1ull << 31;
    CUDA(cudaMalloc((void **)&pool, POOL));
    CUDA(cudaMemset(pool, 0, POOL));
    uint32_t *none = (uint32_t *)(pool + POOL - 4096);
    for (int lines : {1, 2, 4})
        for (int blocks : {1, 2, 4, 6, 8, 10, 11, 12, 13, 14, 15, 16})
            for (int form : {0, 1, 2, 3}) {
                if (blocks * lines > 32)
                    continue;
                int grid = blocks * sms, steps = 512;
                double us = median_us(2, [&](int) {
                    if (form == 0)
                        fills<true, false><<<grid, 128, 0, s>>>(pool, lines, steps, none);
                    else if (form == 1)
                        fills<false, false><<<grid, 128, 0, s>>>(pool, lines, steps, none);
                    else if (form == 2)
                        fills<true, true><<<grid, 128, 0, s>>>(pool, lines, steps, none);
                    else
                        fills<false, true><<<grid, 128, 0, s>>>(pool, lines, steps, none);
                });
                put("fills", std::string(form % 2 ? "in a row" : "anywhere") + (form > 1 ? ", a store each" : ""),
                    std::to_string(lines) + " lines a thread; " + std::to_string(128 * blocks) + " threads on an SM",
                    us * 1e3 / ((double)blocks * 4 * steps), "ns a warp's load");
            }
}

int main(int argc, char **argv)
{
    return write_figures(argc, argv, "branches", measure);
}
