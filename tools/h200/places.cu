// What lanes take that read a constant each at places of their own, and updates of words of tables by their operation and by
// how many words there are. `places OUT.csv` writes group,name,parameter,value,unit as micro does.
#include "figures.cuh"
#include <cstdint>

__constant__ uint32_t words[4096];

// Lanes read `places` different constants, `apart` bytes from each other, BYTES wide; the next place waits for what was read,
// or does not.
template <int BYTES, bool WAITS> __global__ void constants(int places, int apart, int steps, long long *cycles)
{
    int at = threadIdx.x % 32 % places * apart;
    uint32_t sum = 0;
    __syncthreads();
    long long start = ticks();
    for (int i = 0; i < steps; i++) {
        uint32_t v = BYTES == 1 ? ((const uint8_t *)words)[at] : words[at / 4];
        sum += v;
        at = WAITS ? at + (int)(v & 4) : (at + 128) & 4095;
    }
    __syncthreads();
    if (threadIdx.x == 0)
        cycles[0] = ticks() - start;
    cycles[1] = sum;
}

enum update { ADD, MAX, MAX_WIDE, EXCHANGE };

// Each thread updates words anywhere in a table.
template <update WHAT> __global__ void updates(uint32_t *table, uint32_t n, int steps)
{
    uint32_t seed = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u + 1;
    for (int i = 0; i < steps; i++) {
        seed = seed * 1664525u + 1013904223u;
        uint32_t at = (seed ^ seed >> 15) * 0x2c1b3c6du >> 8 & (n - 1), value = seed >> 27;
        if (WHAT == ADD)
            atomicAdd(&table[at], value);
        else if (WHAT == MAX)
            atomicMax((int *)&table[at], (int)value);
        else if (WHAT == MAX_WIDE)
            atomicMax((unsigned long long *)table + at, (unsigned long long)value);
        else
            atomicExch(&table[at], value);
    }
}

static void measure()
{
    cudaStream_t s = gpu_clock.stream;
    for (int threads : {32, 1024})
        for (int places : {1, 2, 4, 8, 16, 32})
            for (int apart : {1, 4, 64}) {
                std::string where = std::to_string(places) + " places " + std::to_string(apart) + " bytes apart; " + std::to_string(threads) + " threads";
                int warps = threads / 32;
                put("constants", "bytes", where, cycles_of([&] { constants<1, false><<<1, threads, 0, s>>>(places, apart, 256, device_cycles); }) / 256 / warps, "cycles");
                if (apart == 1)
                    continue;
                put("constants", "words", where, cycles_of([&] { constants<4, false><<<1, threads, 0, s>>>(places, apart, 256, device_cycles); }) / 256 / warps, "cycles");
                put("constants", "words, in turn", where, cycles_of([&] { constants<4, true><<<1, threads, 0, s>>>(places, apart, 256, device_cycles); }) / 256 / warps, "cycles");
            }

    uint32_t *table;
    CUDA(cudaMalloc((void **)&table, 64 << 20));
    CUDA(cudaMemset(table, 0, 64 << 20));
    for (uint32_t n : {1u, 64u, 256u, 1024u, 4096u, 16384u, 65536u, 1u << 20})
        for (int what = 0; what < 4; what++) {
            static const char *const names[] = {"add", "max", "max of 64 bits", "exchange"};
            int blocks = 8 * sms, steps = n == 1 ? 4 : 16;
            double us = median_us(2, [&](int) {
                if (what == ADD)
                    updates<ADD><<<blocks, 256, 0, s>>>(table, n, steps);
                else if (what == MAX)
                    updates<MAX><<<blocks, 256, 0, s>>>(table, n, steps);
                else if (what == MAX_WIDE)
                    updates<MAX_WIDE><<<blocks, 256, 0, s>>>(table, n, steps);
                else
                    updates<EXCHANGE><<<blocks, 256, 0, s>>>(table, n, steps);
            });
            put("updates", names[what], std::to_string(n) + " words", (double)blocks * 256 * steps / us * 1e-3, "G/s");
        }
}

int main(int argc, char **argv)
{
    return write_figures(argc, argv, "places", measure);
}
