// What micro.cu and waits.cu leave open of the L2: how fast few and all SMs store single sectors, words that are read anywhere in
// buffers around its size, sectors that lie apart, and reading and writing what stays there by blocks that live long.
// `stays OUT.csv` writes group,name,parameter,value,unit as micro does.
#include "figures.cuh"
#include <cstdint>

static char *pool;
static const size_t POOL = (size_t)4 << 30;

// Each thread goes round eight places of its own, 32 bytes apart, so that each store of a warp goes to 32 sectors, `apart` bytes
// from the next.
__global__ void sector_stores(char *p, uint32_t apart, int steps)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    char *own = p + (size_t)i * apart;
    for (int k = 0; k < steps; k++)
        *(volatile uint32_t *)(own + (k * 32 & (apart - 1)) + (k / 8 % 8) * 4) = k;
}

// Every thread reads `steps` words at places that a hash tells, four at once.
__global__ void anywhere(const uint32_t *p, uint32_t words, int steps, uint32_t *out)
{
    uint32_t h = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u + 12345u, sum = 0;
    for (int k = 0; k < steps; k += 4) {
        uint32_t v[4];
#pragma unroll
        for (int q = 0; q < 4; q++) {
            h = h * 1664525u + 1013904223u;
            uint32_t x = h ^ h >> 15;
            x *= 0x2c1b3c6du;
            x ^= x >> 13;
            v[q] = __ldcg(p + (size_t)((uint64_t)x * words >> 32));
        }
        sum += v[0] + v[1] + v[2] + v[3];
    }
    if (sum == 0x1234567u)
        *out = sum;
}

// A thread reads a word of each of four rows.
__global__ void rows_apart(const char *p, uint32_t rows, size_t apart, uint32_t *out)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, quarter = rows / 4, sum = 0;
    if (i < quarter)
#pragma unroll
        for (int q = 0; q < 4; q++)
            sum += __ldcg((const uint32_t *)(p + (size_t)(i + q * quarter) * apart));
    if (sum == 0x1234567u)
        *out = sum;
}

enum { READ = 1, WRITE = 2 };

// Blocks go through n vectors together, EACH of a thread at once.
template <int KIND, int EACH> __global__ void stream(const uint4 *from, uint4 *to, size_t n, uint32_t *out)
{
    uint32_t sum = 0;
    size_t step = (size_t)gridDim.x * blockDim.x * EACH;
    for (size_t i = (size_t)blockIdx.x * blockDim.x * EACH + threadIdx.x; i < n; i += step) {
        uint4 v[EACH];
#pragma unroll
        for (int q = 0; q < EACH; q++)
            v[q] = KIND & READ ? __ldcg(from + i + q * blockDim.x) : make_uint4(1, 2, 3, (uint32_t)i);
#pragma unroll
        for (int q = 0; q < EACH; q++)
            if (KIND & WRITE)
                to[i + q * blockDim.x] = v[q];
            else
                sum += v[q].x + v[q].y + v[q].z + v[q].w;
    }
    if (sum == 0x1234567u)
        *out = sum;
}

template <int EACH> static void streams(int blocks, int threads, size_t mib)
{
    cudaStream_t s = gpu_clock.stream;
    size_t n = (mib << 20) / 16;
    uint4 *from = (uint4 *)pool, *to = from + n;
    uint32_t *none = (uint32_t *)(pool + POOL - 4096);
    int grid = blocks ? blocks : (int)(n / EACH / threads);
    std::string where = std::to_string(mib) + " MiB; " + (blocks ? std::to_string(grid) + " blocks" : std::string("a block each part")) + " of " + std::to_string(threads) + "; " + std::to_string(EACH) + " at once";
    put("stream", "read", where, median_us(20, [&](int) { stream<READ, EACH><<<grid, threads, 0, s>>>(from, to, n, none); }), "us");
    put("stream", "write", where, median_us(20, [&](int) { stream<WRITE, EACH><<<grid, threads, 0, s>>>(from, to, n, none); }), "us");
    put("stream", "copy", where, median_us(20, [&](int) { stream<READ | WRITE, EACH><<<grid, threads, 0, s>>>(from, to, n, none); }), "us");
    put("stream", "in place", where, median_us(20, [&](int) { stream<READ | WRITE, EACH><<<grid, threads, 0, s>>>(from, from, n, none); }), "us");
}

static void measure()
{
    cudaStream_t s = gpu_clock.stream;
    CUDA(cudaMalloc((void **)&pool, POOL));
    CUDA(cudaMemset(pool, 1, POOL));
    uint32_t *none = (uint32_t *)(pool + POOL - 4096);

    for (uint32_t apart : {32, 128, 256})
        for (int blocks : {1, 8, 33, 66, 132, 528})
            for (int threads : {128, 512}) {
                int steps = 512;
                double us = median_us(3, [&](int) { sector_stores<<<blocks, threads, 0, s>>>(pool, apart, steps); });
                put("sector stores", std::to_string(apart) + " B apart", std::to_string(blocks) + " blocks of " + std::to_string(threads), (double)blocks * threads * steps / us * 1e-3, "G/s");
            }

    for (uint32_t mib : {8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 128, 192, 256, 1024}) {
        int blocks = sms * 8, threads = 256, steps = 128;
        double us = median_us(3, [&](int) { anywhere<<<blocks, threads, 0, s>>>((const uint32_t *)pool, mib << 18, steps, none); });
        put("anywhere", "4 B", std::to_string(mib) + " MiB", (double)blocks * threads * steps / us * 1e-3, "G/s");
    }

    for (size_t apart : {32, 64, 128, 256, 512, 2048})
        for (uint32_t rows = 1u << 16; rows <= 1u << 21; rows *= 2)
            if (rows * apart < POOL)
                put("apart", std::to_string(apart) + " B", std::to_string(rows) + " rows", median_us(20, [&](int) { rows_apart<<<rows / 4 / 256, 256, 0, s>>>(pool, rows, apart, none); }), "us");

    for (size_t mib : {2, 4, 8, 12, 16, 24}) {
        streams<1>(2 * sms, 1024, mib);
        streams<4>(sms, 1024, mib);
        streams<1>(0, 1024, mib);
        streams<2>(0, 512, mib);
        streams<4>(0, 256, mib);
    }
}

int main(int argc, char **argv)
{
    return write_figures(argc, argv, "stays", measure);
}
