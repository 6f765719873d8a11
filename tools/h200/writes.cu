// What writes cost that share sectors: additions to global memory by how the lanes of a warp lie, into few and into many
// words, and sectors that several stores of one warp fill. `writes OUT.csv` writes group,name,parameter,value,unit as
// micro does. nvcc -O3 -std=c++17 -arch=sm_90a -o writes tools/h200/writes.cu && ./writes OUT.csv
#include "figures.cuh"
#include <cstdint>

static char *pool;
static const size_t POOL = (size_t)1 << 30;

// ---- additions whose result nobody reads ----

template <class T> __device__ static inline void add(T *p);
template <> __device__ inline void add(float *p) { asm volatile("red.global.add.f32 [%0], 0f3F800000;" ::"l"(p) : "memory"); }
template <> __device__ inline void add(int *p) { asm volatile("red.global.add.s32 [%0], 1;" ::"l"(p) : "memory"); }
template <> __device__ inline void add(double *p) { asm volatile("red.global.add.f64 [%0], 0d3FF0000000000000;" ::"l"(p) : "memory"); }
template <> __device__ inline void add(float2 *p) { asm volatile("red.global.add.v2.f32 [%0], {%1, %1};" ::"l"(p), "f"(1.0f) : "memory"); }
template <> __device__ inline void add(float4 *p) { asm volatile("red.global.add.v4.f32 [%0], {%1, %1, %1, %1};" ::"l"(p), "f"(1.0f) : "memory"); }

// Thread t adds to word t * stride of n, once for each of `each` words next to each other; 0: to a word by chance, -k: warps in
// turn to 32 k words, so that each word gets many.
template <class T> __global__ void add_all(T *p, uint32_t n, int stride, int each)
{
    uint32_t t = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < each; k++) {
        uint32_t at = stride > 0 ? t * stride + k : stride < 0 ? (t + k * 32) % (32 * -stride) : (t * 8 + k) * 2654435761u >> 7;
        add(p + at % n);
    }
}

template <class T> static void put_adds(const char *type)
{
    const int threads = 1 << 20;
    for (uint32_t mib : {4, 256}) {
        uint32_t n = ((size_t)mib << 20) / sizeof(T);
        auto put_one = [&](const std::string &how, int stride, int each) {
            double us = median_us(8, [&](int) { add_all<T><<<threads / 256, 256, 0, gpu_clock.stream>>>((T *)pool, n, stride, each); });
            put("additions", std::string(type) + "; " + std::to_string(mib) + " MiB", how, threads * (double)each / us * 1e-3, "G/s");
        };
        put_one("by chance", 0, 4);
        for (int stride : {1, 2, 4, 8, 32})
            put_one("every " + std::to_string(stride) + "th word", stride, 1);
        put_one("four neighbours a thread", 4, 4);
        put_one("two neighbours a thread", 2, 2);
        if (mib == 4)
            for (int k : {1, 8, 64, 512})
                put_one("in turn to " + std::to_string(32 * k), -k, 4);
    }
}

// Additions to one of `bins` words by chance, of global memory or of a block's shared memory.
template <class T, bool SHARED> __global__ void add_bins(T *p, uint32_t bins, int each)
{
    __shared__ T own[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x)
        own[i] = 0;
    __syncthreads();
    uint32_t t = blockIdx.x * blockDim.x + threadIdx.x, seed = t * 2654435761u + 1;
    for (int k = 0; k < each; k++) {
        seed = seed * 1664525u + 1013904223u;
        uint32_t at = (seed >> 16) & (bins - 1);
        if (SHARED)
            atomicAdd(&own[at], (T)3);
        else
            add(p + at);
    }
    __syncthreads();
    if (SHARED && own[threadIdx.x % bins] == (T)1)
        p[0] = 1;
}

template <class T> static void put_bins(const char *type)
{
    for (uint32_t bins : {1, 16, 64, 256, 1024}) {
        double us = median_us(4, [&](int) { add_bins<T, false><<<4096, 256, 0, gpu_clock.stream>>>((T *)pool, bins, 1); });
        put("bins", std::string(type) + "; global", std::to_string(bins), (1 << 20) / us * 1e-3, "G/s");
        us = median_us(4, [&](int) { add_bins<T, true><<<528, 256, 0, gpu_clock.stream>>>((T *)pool, bins, 64); });
        put("bins", std::string(type) + "; shared, 4 blocks an SM", std::to_string(bins), 528.0 * 256 * 64 / us * 1e-3, "G/s");
    }
}

// ---- sectors that several stores of a warp fill ----

// Each thread fills 16 bytes next to its neighbour's by stores of `BYTES`, with WORK dependent operations before each.
template <int BYTES, int WORK> __global__ void pieces(char *out)
{
    uint32_t t = blockIdx.x * blockDim.x + threadIdx.x, v = t;
    char *p = out + (size_t)t * 16;
    for (int k = 0; k < 16 / BYTES; k++) {
#pragma unroll
        for (int w = 0; w < WORK; w++)
            asm volatile("mad.lo.u32 %0, %0, 1664525, 1;" : "+r"(v));
        if (BYTES == 4)
            asm volatile("st.global.u32 [%0], %1;" ::"l"(p + k * 4), "r"(v) : "memory");
        else if (BYTES == 8)
            asm volatile("st.global.v2.u32 [%0], {%1, %1};" ::"l"(p + k * 8), "r"(v) : "memory");
        else
            asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(p), "r"(v) : "memory");
    }
}

// Each thread fills 4 bytes of every `stride`th word alone.
__global__ void lonely(char *out, int stride)
{
    uint32_t t = blockIdx.x * blockDim.x + threadIdx.x;
    *(uint32_t *)(out + (size_t)t * 4 * stride) = t;
}

template <int BYTES, int WORK> static void put_pieces()
{
    for (uint32_t mib : {4, 16, 256}) {
        uint32_t threads = mib << 16;
        double us = median_us(8, [&](int) { pieces<BYTES, WORK><<<threads / 256, 256, 0, gpu_clock.stream>>>(pool); });
        put("pieces", std::to_string(BYTES) + " B a store; " + std::to_string(WORK) + " between", std::to_string(mib) + " MiB", us, "us");
    }
}

static void measure()
{
    CUDA(cudaMalloc((void **)&pool, POOL));
    CUDA(cudaMemset(pool, 0, POOL));
    put_adds<float>("f32");
    put_adds<int>("s32");
    put_adds<double>("f64");
    put_adds<float2>("f32 in twos");
    put_adds<float4>("f32 in fours");
    put_bins<float>("f32");
    put_bins<int>("s32");
    put_pieces<4, 0>();
    put_pieces<4, 8>();
    put_pieces<4, 40>();
    put_pieces<8, 0>();
    put_pieces<8, 40>();
    put_pieces<16, 0>();
    put_pieces<16, 40>();
    for (int stride : {1, 2, 4, 8, 32})
        for (uint32_t mib : {4, 256}) {
            uint32_t threads = (mib << 18) / stride;
            double us = median_us(8, [&](int) { lonely<<<threads / 256, 256, 0, gpu_clock.stream>>>(pool, stride); });
            put("a word a lane", "every " + std::to_string(stride) + "th word", std::to_string(mib) + " MiB", us, "us");
        }
}

int main(int argc, char **argv)
{
    return write_figures(argc, argv, "writes", measure);
}
