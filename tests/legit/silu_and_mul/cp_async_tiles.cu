// expect: correct
// Double-buffered tiles in shared memory, filled with cp.async.
#include <cuda_fp16.h>
#include <cstdint>

constexpr int THREADS = 128;
constexpr int TILE = THREADS * 8;

__device__ inline void cp16(void *shared, const void *global)
{
    uint32_t s = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(s), "l"(global) : "memory");
}
__device__ inline void commit() { asm volatile("cp.async.commit_group;\n" ::: "memory"); }
template <int N> __device__ inline void wait() { asm volatile("cp.async.wait_group %0;\n" ::"n"(N) : "memory"); }

__device__ inline float silu(float x) { return x / (1.f + __expf(-x)); }

__global__ void __launch_bounds__(THREADS) tiles(__half *out, const __half *in, int d)
{
    __shared__ __align__(16) __half a[2][TILE];
    __shared__ __align__(16) __half b[2][TILE];
    const __half *x = in + (int64_t)blockIdx.x * 2 * d;
    const __half *y = x + d;
    __half *o = out + (int64_t)blockIdx.x * d;
    const int n = (d + TILE - 1) / TILE;
    auto fetch = [&](int t) {
        int i = t * TILE + threadIdx.x * 8;
        if (t < n && i < d) {
            cp16(&a[t & 1][threadIdx.x * 8], x + i);
            cp16(&b[t & 1][threadIdx.x * 8], y + i);
        }
        commit();
    };
    fetch(0);
    for (int t = 0; t < n; ++t) {
        fetch(t + 1);
        wait<1>();
        __syncthreads();
        int base = t * TILE;
        for (int k = threadIdx.x; k < TILE && base + k < d; k += THREADS)
            o[base + k] = __float2half(silu(__half2float(a[t & 1][k])) * __half2float(b[t & 1][k]));
        __syncthreads();
    }
}

__global__ void plain(__half *out, const __half *in, int d)
{
    const __half *x = in + (int64_t)blockIdx.x * 2 * d;
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[(int64_t)blockIdx.x * d + i] = __float2half(silu(__half2float(x[i])) * __half2float(x[d + i]));
}

extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    if (d % 8 == 0)
        tiles<<<rows, THREADS, 0, stream>>>(out, in, d);
    else
        plain<<<rows, THREADS, 0, stream>>>(out, in, d);
}
