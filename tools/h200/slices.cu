// Which lines share a slice of the L2: updates of two lines at once, and of tables that begin at drawn places; and what a
// load that misses brings beside its sector: chases and windows that move word by word.
// `slices OUT.csv` writes group,name,parameter,value,unit as micro does.
#include "figures.cuh"
#include <cstdint>

static char *pool;
static const size_t POOL = 1ull << 30;

// Each warp adds to the words of a line, a word a lane; of two neighbours one goes to the first line, one to the other.
__global__ void two_lines(uint32_t *p, uint32_t apart, int steps)
{
    uint32_t *at = p + (threadIdx.x / 32 & 1) * apart * 32 + threadIdx.x % 32;
    for (int i = 0; i < steps; i++)
        atomicAdd(at, 1u);
}

// Each thread adds to words anywhere in a table of 2^n words.
__global__ void table(uint32_t *p, uint32_t n, int steps)
{
    uint32_t seed = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u + 1;
    for (int i = 0; i < steps; i++) {
        seed = seed * 1664525u + 1013904223u;
        atomicAdd(&p[(seed ^ seed >> 15) * 0x2c1b3c6du >> 8 & (n - 1)], seed >> 27);
    }
}

static __device__ __forceinline__ uint32_t word(const void *p)
{
    uint32_t v;
    asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v) : "l"(p));
    return v;
}

// Loads a word every `step` bytes; the next waits for it. Every warp goes `ahead` bytes before the one before it.
__global__ void chase(const char *p, int step, int steps, int ahead, bool wide, long long *cycles)
{
    p += threadIdx.x / 32 * ahead + (wide ? threadIdx.x % 32 * 4 : 0);
    __syncthreads();
    long long start = ticks();
    for (int i = 0; i < steps; i++)
        p += step + word(p);
    __syncthreads();
    if (threadIdx.x == 0)
        cycles[0] = ticks() - start;
    cycles[1] = (long long)p;
}

// The same from DRAM or from the L2.
static void from(const char *name, const std::string &parameter, int threads, int step, int steps, int ahead, bool wide)
{
    cudaStream_t s = gpu_clock.stream;
    for (bool cold : {false, true}) {
        int bytes = step * steps + (threads / 32) * ahead + 256;
        put("beside", name, parameter + (cold ? "; DRAM" : "; L2"), cycles_of([&] {
            CUDA(cudaMemsetAsync(pool, 0, bytes, s));
            CUDA(cudaMemsetAsync(pool + POOL / 2, 1, cold ? POOL / 2 : 1, s));
            if (!cold) // through another SM's L1, so that it lies in the L2 alone
                CUDA(cudaMemcpyAsync(pool + POOL / 4, pool, bytes, cudaMemcpyDeviceToDevice, s));
            chase<<<1, threads, 0, s>>>(pool, step, steps, ahead, wide, device_cycles);
        }) / steps, "cycles");
    }
}

static void measure()
{
    cudaStream_t s = gpu_clock.stream;
    CUDA(cudaMalloc((void **)&pool, POOL));
    CUDA(cudaMemset(pool, 0, POOL));
    for (size_t base : {size_t(0), size_t(129) << 20, size_t(777777) * 1024})
        for (uint32_t apart = 1; apart < 64; apart += apart < 32 ? 1 : 3) {
            double us = median_us(1, [&](int) { two_lines<<<4 * sms, 256, 0, s>>>((uint32_t *)(pool + base), apart, 128); }, 3);
            put("two", "base " + std::to_string(base >> 10) + " KiB", std::to_string(apart) + " lines apart", 4.0 * sms * 256 * 128 / us * 1e-3, "G/s");
        }
    for (uint32_t n : {64u, 256u, 1024u, 4096u})
        for (uint32_t k = 0; k < (n > 256 ? 16 : 48); k++) {
            size_t base = (k ? (k * 2654435761u >> 4) % (POOL / 256 - 64) : 0) * 256;
            double us = median_us(1, [&](int) { table<<<8 * sms, 256, 0, s>>>((uint32_t *)(pool + base), n, 8); }, 3);
            put("table", std::to_string(n) + " words", "base " + std::to_string(base), 8.0 * sms * 256 * 8 / us * 1e-3, "G/s");
        }
    for (int step : {32, 64, 128, 256})
        from("a lane", std::to_string(step) + " bytes on", 1, step, 2048, 0, false);
    for (int step : {4, 8, 16, 32, 64, 128})
        from("a warp's window", std::to_string(step) + " bytes on", 32, step, 2048, 0, true);
    for (int step : {4, 32, 64})
        from("eight warps' windows", std::to_string(step) + " bytes on", 256, step, 2048, 128, true);
    for (int step : {4, 32, 64})
        from("eight warps' rows", std::to_string(step) + " bytes on", 256, step, 2048, 1 << 20, true);
}

int main(int argc, char **argv)
{
    return write_figures(argc, argv, "slices", measure);
}
