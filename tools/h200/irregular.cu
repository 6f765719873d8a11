// What micro.cu leaves out: loads that scatter over a table, the tensor cores by warps and shapes, double precision,
// the reach of the TLB, and stores and atomics that scatter. `irregular OUT.csv` writes group,name,parameter,value,unit.
#include "figures.cuh"
#include <cstdint>
#include <numeric>
#include <random>

static char *pool;
static const size_t POOL = (size_t)8 << 30;

static double median_us(const std::function<void()> &launch, int samples = 5)
{
    std::vector<double> us;
    for (int i = -1; i < samples; i++) {
        double t = gpu_clock.time_us(launch);
        CUDA(cudaGetLastError());
        if (i >= 0)
            us.push_back(t);
    }
    return quantile(us, 0.5);
}

// Scattered accesses: each group of `lanes` lanes shares one line of 128 bytes at a random place of the table. The
// places come from a hash, so that nothing but the table is read.
enum { LOADS, STORES, UPDATES };

__device__ static void add(unsigned &to, unsigned v)
{
    to += v;
}
__device__ static void add(uint4 &to, uint4 v)
{
    to.x += v.x;
    to.y += v.y;
    to.z += v.z;
    to.w += v.w;
}
__device__ static bool is_magic(unsigned v)
{
    return v == 0x1234567u;
}
__device__ static bool is_magic(uint4 v)
{
    return v.x == 0x1234567u && v.y == 1 && v.z == 2 && v.w == 3;
}

template <typename T, int KIND, int UNROLL>
__global__ void scatter(T *table, unsigned lines, int lanes, int steps, T *sink)
{
    unsigned id = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, group = id / lanes;
    T sum[UNROLL] = {};
    for (int i = 0; i < steps; i += UNROLL) {
#pragma unroll
        for (int k = 0; k < UNROLL; k++) {
            unsigned h = (group * 0x9e3779b1u) ^ ((i + k) * 0x85ebca6bu);
            h ^= h >> 15;
            h *= 0x2c1b3c6du;
            h ^= h >> 12;
            h *= 0x297a2d39u;
            h ^= h >> 15;
            unsigned line = (unsigned)((uint64_t)h * lines >> 32);
            T *at = table + (size_t)line * (128 / sizeof(T)) + lane % lanes % (128 / sizeof(T));
            if constexpr (KIND == LOADS)
                add(sum[k], __ldcg(at));
            else if constexpr (KIND == STORES)
                *at = sum[k];
            else
                atomicAdd((unsigned *)at, 1u);
        }
    }
    for (int k = 1; k < UNROLL; k++)
        add(sum[0], sum[k]);
    if (is_magic(sum[0]))
        *sink = sum[0];
}

template <typename T, int KIND> static void scatters(const char *name)
{
    for (size_t mib : {(size_t)2, (size_t)16, (size_t)32, (size_t)128, (size_t)1024, (size_t)6144})
        for (int lanes : {1, 2, 4, 8, 32}) {
            unsigned lines = (unsigned)((mib << 20) / 128), blocks = 8 * sms;
            int steps = 64;
            double us = median_us([&] {
                scatter<T, KIND, 8><<<blocks, 256, 0, gpu_clock.stream>>>((T *)pool, lines, lanes, steps,
                                                                          (T *)(pool + POOL - 64));
            });
            double requests = (double)blocks * 256 / lanes * steps;
            put("scatter", name,
                std::to_string(mib) + " MiB; " + std::to_string(lanes) + " lanes a line", requests / us * 1e-3,
                "lines/ns");
        }
}

// Tensor cores: independent accumulators of each warp, no memory.
template <int CHAINS> __global__ void mma_f16_f32(int steps, float *sink)
{
    float c[CHAINS][4] = {};
    unsigned a[4] = {threadIdx.x, threadIdx.x * 3, 1, 2}, b[2] = {threadIdx.x * 5, 7};
    for (int i = 0; i < steps; i++)
#pragma unroll
        for (int k = 0; k < CHAINS; k++)
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                         "{%0,%1,%2,%3};"
                         : "+f"(c[k][0]), "+f"(c[k][1]), "+f"(c[k][2]), "+f"(c[k][3])
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    float sum = 0;
    for (int k = 0; k < CHAINS; k++)
        sum += c[k][0] + c[k][1] + c[k][2] + c[k][3];
    if (sum == 1.2345f)
        *sink = sum;
}

template <int CHAINS> __global__ void mma_f16_f16(int steps, float *sink)
{
    unsigned c[CHAINS][2] = {}, a[4] = {threadIdx.x, threadIdx.x * 3, 1, 2}, b[2] = {threadIdx.x * 5, 7};
    for (int i = 0; i < steps; i++)
#pragma unroll
        for (int k = 0; k < CHAINS; k++)
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"
                         : "+r"(c[k][0]), "+r"(c[k][1])
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    unsigned sum = 0;
    for (int k = 0; k < CHAINS; k++)
        sum += c[k][0] ^ c[k][1];
    if (sum == 12345u)
        *sink = (float)sum;
}

template <int CHAINS> __global__ void mma_tf32(int steps, float *sink)
{
    float c[CHAINS][4] = {};
    unsigned a[4] = {threadIdx.x, threadIdx.x * 3, 1, 2}, b[2] = {threadIdx.x * 5, 7};
    for (int i = 0; i < steps; i++)
#pragma unroll
        for (int k = 0; k < CHAINS; k++)
            asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                         "{%0,%1,%2,%3};"
                         : "+f"(c[k][0]), "+f"(c[k][1]), "+f"(c[k][2]), "+f"(c[k][3])
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    float sum = 0;
    for (int k = 0; k < CHAINS; k++)
        sum += c[k][0] + c[k][1] + c[k][2] + c[k][3];
    if (sum == 1.2345f)
        *sink = sum;
}

template <int CHAINS> __global__ void mma_s8(int steps, float *sink)
{
    int c[CHAINS][4] = {};
    unsigned a[4] = {threadIdx.x, threadIdx.x * 3, 1, 2}, b[2] = {threadIdx.x * 5, 7};
    for (int i = 0; i < steps; i++)
#pragma unroll
        for (int k = 0; k < CHAINS; k++)
            asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                         "{%0,%1,%2,%3};"
                         : "+r"(c[k][0]), "+r"(c[k][1]), "+r"(c[k][2]), "+r"(c[k][3])
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    int sum = 0;
    for (int k = 0; k < CHAINS; k++)
        sum += c[k][0] + c[k][1] + c[k][2] + c[k][3];
    if (sum == 12345)
        *sink = (float)sum;
}

template <int CHAINS> __global__ void fma_f64(int steps, float *sink)
{
    double c[CHAINS], y = 1 + threadIdx.x * 1e-9;
    for (int k = 0; k < CHAINS; k++)
        c[k] = k;
    for (int i = 0; i < steps; i++)
#pragma unroll
        for (int k = 0; k < CHAINS; k++)
            c[k] = fma(c[k], y, y);
    double sum = 0;
    for (int k = 0; k < CHAINS; k++)
        sum += c[k];
    if (sum == 1.2345)
        *sink = (float)sum;
}

static void tensor(const char *name, void (*kernel)(int, float *), int chains)
{
    const int steps = 2048;
    for (int warps : {1, 4, 8, 16, 32})
        for (int per_sm : {1, 2}) {
            if (warps * per_sm > 32)
                continue;
            double us = median_us([&] {
                kernel<<<sms * per_sm, warps * 32, 0, gpu_clock.stream>>>(steps, (float *)(pool + POOL - 64));
            });
            put("tensor", name,
                std::to_string(warps) + " warps a block; " + std::to_string(per_sm) + " blocks an SM; " +
                    std::to_string(chains) + " chains",
                (double)warps * per_sm * steps * chains / us * 1e-3, "warp instructions/ns and SM");
        }
}

// Streams of double and of float read by rows, a warp each: y = A x.
template <typename T> __global__ void gemv(const T *a, const T *x, T *y, int columns)
{
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    T sum = 0;
    for (int c = threadIdx.x & 31; c < columns; c += 32)
        sum += a[(size_t)row * columns + c] * x[c];
    for (int d = 16; d; d /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if ((threadIdx.x & 31) == 0)
        y[row] = sum;
}

template <typename T> static void gemvs(const char *name)
{
    for (int rows : {4096, 32768})
        for (int columns : {1024, 8192}) {
            double us = median_us([&] {
                gemv<T><<<rows / 8, 256, 0, gpu_clock.stream>>>((const T *)pool, (const T *)(pool + POOL - (1 << 20)),
                                                                 (T *)(pool + POOL - (2 << 20)), columns);
            });
            put("stream", name, std::to_string(rows) + "x" + std::to_string(columns), us, "us");
        }
}

__global__ void chase(const uint32_t *next, int warm, int steps, long long *out)
{
    uint32_t at = 0;
    for (int i = 0; i < warm; i++)
        at = __ldcg(next + (size_t)at * 32);
    long long start = clock64();
    for (int i = 0; i < steps; i++)
        at = __ldcg(next + (size_t)at * 32);
    out[0] = clock64() - start;
    out[1] = at;
}

// One load after the other over tables of growing size: the L2, DRAM, and the reach of the TLBs.
static void chases()
{
    for (size_t mib : {8, 32, 64, 128, 256, 512, 1024, 2048, 4096}) {
        size_t lines = (mib << 20) / 128, step = lines > (1u << 20) ? lines >> 20 : 1, n = lines / step;
        std::vector<uint32_t> order(n), host(lines * 32, 0);
        std::iota(order.begin(), order.end(), 0);
        std::mt19937 rng(7);
        std::shuffle(order.begin() + 1, order.end(), rng);
        for (size_t i = 0; i < n; i++)
            host[(size_t)order[i] * step * 32] = (uint32_t)(order[(i + 1) % n] * step);
        CUDA(cudaMemcpy(pool, host.data(), host.size() * 4, cudaMemcpyHostToDevice));
        long long *out = (long long *)(pool + POOL - 4096), got[2];
        int steps = 16384;
        chase<<<1, 1, 0, gpu_clock.stream>>>((uint32_t *)pool, (int)std::min<size_t>(n, 100000), steps, out);
        CUDA(cudaStreamSynchronize(gpu_clock.stream));
        CUDA(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
        put("latency", "chase", std::to_string(mib) + " MiB", (double)got[0] / steps, "cycles");
    }
}

int main(int argc, char **argv)
{
    csv = argc == 2 ? fopen(argv[1], "w") : nullptr;
    if (!csv) {
        fprintf(stderr, "usage: irregular OUT.csv\n");
        return 2;
    }
    fprintf(csv, "group,name,parameter,value,unit\n");
    try {
        CUDA(cudaSetDevice(0));
        CUDA(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
        gpu_clock.open();
        CUDA(cudaMalloc((void **)&pool, POOL));
        CUDA(cudaMemset(pool, 0, POOL));
        scatters<unsigned, LOADS>("loads of 4 B");
        scatters<uint4, LOADS>("loads of 16 B");
        scatters<unsigned, STORES>("stores of 4 B");
        scatters<unsigned, UPDATES>("updates of 4 B");
        tensor("m16n8k16 f16 f32", mma_f16_f32<8>, 8);
        tensor("m16n8k16 f16 f32", mma_f16_f32<2>, 2);
        tensor("m16n8k16 f16 f16", mma_f16_f16<8>, 8);
        tensor("m16n8k8 tf32", mma_tf32<8>, 8);
        tensor("m16n8k32 s8", mma_s8<8>, 8);
        tensor("fma.f64", fma_f64<8>, 8);
        gemvs<float>("gemv of float");
        gemvs<double>("gemv of double");
        chases();
        if (gpu_clock.timeouts())
            fprintf(stderr, "irregular: %d waits for the host timed out\n", gpu_clock.timeouts());
    } catch (const std::exception &failure) {
        fprintf(stderr, "irregular: %s\n", failure.what());
        return 1;
    }
    return 0;
}
