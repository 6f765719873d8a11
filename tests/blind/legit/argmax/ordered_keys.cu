// Each (value, place) becomes one 64-bit key whose unsigned order is the wanted one (NaN on top, -0 and +0 equal, the first place of equals); the value itself is read back, so its bits stay.
#include <cstdint>

using u64 = unsigned long long;

constexpr int THREADS = 512;

__device__ __forceinline__ u64 make_key(float v, unsigned place)
{
    unsigned bits = __float_as_uint(v);
    unsigned order;
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        order = 0xffffffffu; // any NaN
    else if ((bits & 0x7fffffffu) == 0)
        order = 0x80000000u; // either zero
    else
        order = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    return (u64)order << 32 | (0xffffffffu - place);
}

__device__ __forceinline__ u64 larger(u64 a, u64 b)
{
    return a > b ? a : b;
}

__global__ void __launch_bounds__(THREADS) argmax_kernel(float *__restrict__ value, int64_t *__restrict__ index,
                                                         const float *__restrict__ logits, int n)
{
    __shared__ u64 warps[THREADS / 32];
    const float *x = logits + (int64_t)blockIdx.x * n;
    u64 best = 0; // below every key: -inf has the order 0x007fffff

    // The row may begin at any multiple of 4 bytes: up to three elements ahead of the first whole float4.
    int head = (int)((16 - (reinterpret_cast<uintptr_t>(x) & 15)) & 15) / 4;
    if (head > n)
        head = n;
    if (threadIdx.x < head)
        best = make_key(x[threadIdx.x], threadIdx.x);
    const int vectors = (n - head) / 4;
    const float4 *wide = reinterpret_cast<const float4 *>(x + head);
#pragma unroll 2
    for (int i = threadIdx.x; i < vectors; i += THREADS) {
        const float4 v = __ldg(wide + i);
        const unsigned place = head + 4 * i;
        best = larger(best, larger(larger(make_key(v.x, place), make_key(v.y, place + 1)),
                                   larger(make_key(v.z, place + 2), make_key(v.w, place + 3))));
    }
    const int rest = head + 4 * vectors + threadIdx.x;
    if (rest < n)
        best = larger(best, make_key(x[rest], rest));

#pragma unroll
    for (int o = 16; o > 0; o /= 2)
        best = larger(best, __shfl_down_sync(0xffffffffu, best, o));
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = best;
    __syncthreads();
    if (threadIdx.x < 32) {
        best = threadIdx.x < THREADS / 32 ? warps[threadIdx.x] : 0;
#pragma unroll
        for (int o = 16; o > 0; o /= 2)
            best = larger(best, __shfl_down_sync(0xffffffffu, best, o));
        if (threadIdx.x == 0) {
            const unsigned place = 0xffffffffu - (unsigned)best;
            value[blockIdx.x] = x[place];
            index[blockIdx.x] = place;
        }
    }
}

extern "C" void argmax(float *value, int64_t *index, const float *logits, int rows, int n, cudaStream_t stream)
{
    argmax_kernel<<<rows, THREADS, 0, stream>>>(value, index, logits, n);
}
