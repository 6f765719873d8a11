// counts[v] = how often the byte v occurs. Each block counts in shared memory, one copy of the bins per lane;
// the bins in global memory are cleared meanwhile by a kernel before (programmatic dependent launch).
#include <cstdint>
#include <cooperative_groups.h>

constexpr int BINS = 256;

template <int R> __device__ __forceinline__ unsigned shift(unsigned w)
{
    return R >= 0 ? w >> (R & 31) : w << (-R & 31);
}

template <int COPIES> __device__ __forceinline__ void count4(unsigned *local, unsigned lane, unsigned w)
{
    constexpr int SHIFT = COPIES == 32 ? 7 : COPIES == 16 ? 6 : COPIES == 8 ? 5 : 4; // bytes between bins
    constexpr unsigned MASK = 255u << SHIFT;
    char *base = reinterpret_cast<char *>(local);
    atomicAdd(reinterpret_cast<unsigned *>(base + (((w << SHIFT) & MASK) | lane)), 1u);
    atomicAdd(reinterpret_cast<unsigned *>(base + ((shift<8 - SHIFT>(w) & MASK) | lane)), 1u);
    atomicAdd(reinterpret_cast<unsigned *>(base + ((shift<16 - SHIFT>(w) & MASK) | lane)), 1u);
    atomicAdd(reinterpret_cast<unsigned *>(base + ((shift<24 - SHIFT>(w) & MASK) | lane)), 1u);
}

template <int COPIES> __device__ __forceinline__ void count16(unsigned *local, unsigned lane, uint4 a)
{
    count4<COPIES>(local, lane, a.x);
    count4<COPIES>(local, lane, a.y);
    count4<COPIES>(local, lane, a.z);
    count4<COPIES>(local, lane, a.w);
}

template <int THREADS, int COPIES>
__device__ __forceinline__ void count_all(unsigned *local, const unsigned char *__restrict__ values, int64_t n)
{
    for (int i = threadIdx.x; i < BINS * COPIES / 4; i += THREADS)
        reinterpret_cast<uint4 *>(local)[i] = make_uint4(0, 0, 0, 0);
    __syncthreads();
    unsigned lane = threadIdx.x % COPIES * 4;
    const uint4 *vector = reinterpret_cast<const uint4 *>(values);
    int64_t whole = ((uintptr_t)values & 15) == 0 ? n / 16 : 0;
    int64_t stride = (int64_t)gridDim.x * THREADS;
    int64_t first = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    int64_t i = first;
    for (; i + stride < whole; i += 2 * stride) {
        uint4 a = __ldcs(vector + i);
        uint4 b = __ldcs(vector + i + stride);
        count16<COPIES>(local, lane, a);
        count16<COPIES>(local, lane, b);
    }
    if (i < whole)
        count16<COPIES>(local, lane, __ldcs(vector + i));
    for (int64_t k = whole * 16 + first; k < n; k += stride)
        atomicAdd(&local[values[k] * COPIES + lane / 4], 1u);
    __syncthreads();
}

__global__ void clear(unsigned *counts)
{
    counts[threadIdx.x] = 0;
}

template <int THREADS, int COPIES>
__global__ void __launch_bounds__(THREADS) histogram_kernel(unsigned *__restrict__ counts, const unsigned char *__restrict__ values, int64_t n)
{
    __shared__ __align__(16) unsigned local[BINS * COPIES];
    count_all<THREADS, COPIES>(local, values, n);
    cudaGridDependencySynchronize();
    for (int bin = threadIdx.x; bin < BINS; bin += THREADS) {
        unsigned sum = 0;
#pragma unroll 8
        for (int k = 0; k < COPIES; k++)
            sum += local[bin * COPIES + (k + threadIdx.x) % COPIES];
        if (sum != 0)
            atomicAdd(&counts[bin], sum);
    }
}

// One cluster, which writes the counts without clearing them first.
__global__ void __cluster_dims__(8) __launch_bounds__(512) histogram_cluster(unsigned *__restrict__ counts, const unsigned char *__restrict__ values, int64_t n)
{
    __shared__ __align__(16) unsigned local[BINS * 8];
    __shared__ unsigned sums[BINS];
    count_all<512, 8>(local, values, n);
    if (threadIdx.x < BINS) {
        unsigned sum = 0;
#pragma unroll
        for (int k = 0; k < 8; k++)
            sum += local[threadIdx.x * 8 + (k + threadIdx.x) % 8];
        sums[threadIdx.x] = sum;
    }
    auto cluster = cooperative_groups::this_cluster();
    cluster.sync();
    if (threadIdx.x < 32) {
        unsigned bin = cluster.block_rank() * 32 + threadIdx.x, sum = 0;
#pragma unroll
        for (int k = 0; k < 8; k++)
            sum += cluster.map_shared_rank(sums, k)[bin];
        counts[bin] = sum;
    }
    cluster.sync();
}

template <int COPIES> __device__ __forceinline__ void tally4(unsigned *mine, unsigned w)
{
    atomicAdd(mine + (w & 255u) * COPIES, 1u);
    atomicAdd(mine + ((w >> 8) & 255u) * COPIES, 1u);
    atomicAdd(mine + ((w >> 16) & 255u) * COPIES, 1u);
    atomicAdd(mine + (w >> 24) * COPIES, 1u);
}

template <int THREADS, int COPIES>
__global__ void __launch_bounds__(THREADS) histogram_large(unsigned *__restrict__ counts, const unsigned char *__restrict__ values, int64_t n)
{
    __shared__ __align__(16) unsigned local[BINS * COPIES];
    for (int i = threadIdx.x; i < BINS * COPIES / 4; i += THREADS)
        reinterpret_cast<uint4 *>(local)[i] = make_uint4(0, 0, 0, 0);
    __syncthreads();

    unsigned *mine = local + threadIdx.x % COPIES;
    const uint4 *vector = reinterpret_cast<const uint4 *>(values);
    bool aligned = ((uintptr_t)values & 15) == 0;
    int64_t whole = aligned ? n / 16 : 0;
    int64_t stride = (int64_t)gridDim.x * THREADS;
    int64_t first = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    int64_t i = first;
    for (; i + stride < whole; i += 2 * stride) {
        uint4 a = __ldcs(vector + i);
        uint4 b = __ldcs(vector + i + stride);
        tally4<COPIES>(mine, a.x);
        tally4<COPIES>(mine, a.y);
        tally4<COPIES>(mine, a.z);
        tally4<COPIES>(mine, a.w);
        tally4<COPIES>(mine, b.x);
        tally4<COPIES>(mine, b.y);
        tally4<COPIES>(mine, b.z);
        tally4<COPIES>(mine, b.w);
    }
    if (i < whole) {
        uint4 a = __ldcs(vector + i);
        tally4<COPIES>(mine, a.x);
        tally4<COPIES>(mine, a.y);
        tally4<COPIES>(mine, a.z);
        tally4<COPIES>(mine, a.w);
    }
    for (int64_t k = whole * 16 + first; k < n; k += stride)
        atomicAdd(mine + values[k] * COPIES, 1u);
    __syncthreads();

    for (int bin = threadIdx.x; bin < BINS; bin += THREADS) {
        unsigned sum = 0;
#pragma unroll 8
        for (int k = 0; k < COPIES; k++)
            sum += local[bin * COPIES + (k + threadIdx.x) % COPIES];
        if (sum != 0)
            atomicAdd(&counts[bin], sum);
    }
}

extern "C" void histogram(unsigned *counts, const unsigned char *values, int rows, int d, cudaStream_t stream)
{
    int64_t n = (int64_t)rows * d;
    if (n <= 1 << 17) {
        histogram_cluster<<<8, 512, 0, stream>>>(counts, values, n);
        return;
    }
    if (n >= 4 << 20) {
        cudaMemsetAsync(counts, 0, BINS * sizeof(unsigned), stream);
        histogram_large<512, 32><<<132 * 4, 512, 0, stream>>>(counts, values, n);
        return;
    }
    clear<<<1, BINS, 0, stream>>>(counts);
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    {
        config.gridDim = dim3((unsigned)((n + 4095) / 4096 < 264 ? (n + 4095) / 4096 : 264));
        config.blockDim = dim3(256);
        cudaLaunchKernelEx(&config, histogram_kernel<256, 8>, counts, values, n);
    }
}
