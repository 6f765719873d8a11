// counts[v] = how often the byte v occurs: per block a histogram a lane in shared memory, so that no two lanes meet in
// a bank; sixteen bytes a load.
#include <cstdint>

constexpr int BINS = 256;
constexpr int THREADS = 512;
constexpr int CLUSTER = 8;
constexpr int AHEAD = 4;

// lane4: this lane's byte in a bin's 128.
__device__ __forceinline__ void count_offset(unsigned char *local, unsigned offset)
{
    atomicAdd(reinterpret_cast<unsigned *>(local + offset), 1u);
}

__device__ __forceinline__ void count_word(unsigned char *local, unsigned lane4, unsigned w)
{
    count_offset(local, (w << 7 & 0x7f80u) | lane4);
    count_offset(local, (w >> 1 & 0x7f80u) | lane4);
    count_offset(local, (w >> 9 & 0x7f80u) | lane4);
    count_offset(local, (w >> 17 & 0x7f80u) | lane4);
}

__device__ __forceinline__ void count_vector(unsigned char *local, unsigned lane4, uint4 v)
{
    count_word(local, lane4, v.x);
    count_word(local, lane4, v.y);
    count_word(local, lane4, v.z);
    count_word(local, lane4, v.w);
}

// The block's counts: thread t returns the sum of bin t / 2.
__device__ __forceinline__ unsigned block_counts(uint4 *local, const unsigned char *__restrict__ values, int64_t n,
                                                 int64_t head, int64_t vectors)
{
    const uint4 *words = reinterpret_cast<const uint4 *>(values + head);
    const int64_t stride = (int64_t)gridDim.x * THREADS;
    const int64_t first = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    int64_t i = first;
    uint4 v[AHEAD];
#pragma unroll
    for (int k = 0; k < AHEAD; k++)
        if (i + k * stride < vectors)
            v[k] = __ldcs(words + i + k * stride);
#pragma unroll
    for (int k = 0; k < BINS * 32 / 4 / THREADS; k++)
        local[threadIdx.x + k * THREADS] = make_uint4(0, 0, 0, 0);
    __syncthreads();
    unsigned char *bytes = reinterpret_cast<unsigned char *>(local);
    const unsigned lane4 = threadIdx.x % 32 * 4;
    // Each vector's successor is asked for as soon as its place is free.
    while (i < vectors) {
#pragma unroll
        for (int k = 0; k < AHEAD; k++) {
            if (i + k * stride < vectors) {
                const uint4 now = v[k];
                if (i + (k + AHEAD) * stride < vectors)
                    v[k] = __ldcs(words + i + (k + AHEAD) * stride);
                count_vector(bytes, lane4, now);
            }
        }
        i += AHEAD * stride;
    }
    // The bytes before the first and after the last whole vector.
    const int64_t rest = n - vectors * 16;
    if (first < rest)
        count_offset(bytes, (unsigned)values[first < head ? first : vectors * 16 + first] << 7 | lane4);
    __syncthreads();

    const int bin = threadIdx.x / 2, half = threadIdx.x % 2;
    unsigned sum = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        uint4 q = local[bin * 8 + half * 4 + ((bin + k) & 3)];
        sum += (q.x + q.y) + (q.z + q.w);
    }
    return sum + __shfl_xor_sync(0xffffffffu, sum, 1);
}

__global__ void clear_kernel(unsigned *counts)
{
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    counts[threadIdx.x] = 0;
}

// Counts while clear_kernel may still run, and waits for it before it adds.
__global__ void __launch_bounds__(THREADS)
    histogram_kernel(unsigned *__restrict__ counts, const unsigned char *__restrict__ values, int64_t n, int64_t head,
                     int64_t vectors)
{
    __shared__ __align__(128) uint4 local[BINS * 32 / 4];
    const unsigned sum = block_counts(local, values, n, head, vectors);
    asm volatile("griddepcontrol.wait;" ::: "memory");
    if (threadIdx.x % 2 == 0 && sum != 0)
        atomicAdd(&counts[threadIdx.x / 2], sum);
}

// Few bytes: one cluster, which writes the counts without anything to clear.
__global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(THREADS)
    histogram_cluster(unsigned *__restrict__ counts, const unsigned char *__restrict__ values, int64_t n, int64_t head,
                      int64_t vectors)
{
    __shared__ __align__(128) uint4 local[BINS * 32 / 4];
    __shared__ unsigned received[CLUSTER][BINS / CLUSTER];
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
    const unsigned sum = block_counts(local, values, n, head, vectors);
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    if (threadIdx.x % 2 == 0) {
        const int bin = threadIdx.x / 2;
        unsigned address = (unsigned)__cvta_generic_to_shared(&received[blockIdx.x][bin % (BINS / CLUSTER)]), remote;
        asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(address), "r"(bin / (BINS / CLUSTER)));
        asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(remote), "r"(sum) : "memory");
    }
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    if (threadIdx.x < BINS / CLUSTER) {
        unsigned total = 0;
#pragma unroll
        for (int c = 0; c < CLUSTER; c++)
            total += received[c][threadIdx.x];
        counts[blockIdx.x * (BINS / CLUSTER) + threadIdx.x] = total;
    }
}

extern "C" void histogram(unsigned *counts, const unsigned char *values, int rows, int d, cudaStream_t stream)
{
    int64_t n = (int64_t)rows * d;
    int64_t head = (16 - (uintptr_t)values % 16) % 16;
    head = head < n ? head : n;
    int64_t vectors = (n - head) / 16;
    if (vectors <= 4 * CLUSTER * THREADS) {
        histogram_cluster<<<CLUSTER, THREADS, 0, stream>>>(counts, values, n, head, vectors);
        return;
    }
    int64_t wanted = (vectors + THREADS - 1) / THREADS;
    int blocks = wanted < 528 ? (int)wanted : 528;
    clear_kernel<<<1, BINS, 0, stream>>>(counts);
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(THREADS);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    cudaLaunchKernelEx(&config, histogram_kernel, counts, values, n, head, vectors);
}
