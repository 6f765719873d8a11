// One pass with look-back: chunks are numbered by a ticket, state is 64 bits (flag and full sum), published by release and read by acquire.
#include <cstdint>

namespace chunked {
constexpr int THREADS = 256, EACH = 8, CHUNK = THREADS * EACH;

__device__ __forceinline__ void publish(unsigned long long *at, unsigned flag, uint32_t sum)
{
    unsigned long long v = (unsigned long long)flag << 32 | sum;
    asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(at), "l"(v) : "memory");
}

__device__ __forceinline__ unsigned long long look(const unsigned long long *at)
{
    unsigned long long v;
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(at) : "memory");
    return v;
}

__global__ void __launch_bounds__(THREADS) scan_kernel(uint32_t *out, const uint32_t *in, unsigned long long *state, int64_t count, int d, int chunks)
{
    __shared__ uint32_t total_of[THREADS / 32];
    __shared__ uint32_t carry_in;
    __shared__ unsigned long long ticket;
    if (threadIdx.x == 0)
        ticket = atomicAdd(state + count, 1ull);
    __syncthreads();
    const int64_t number = ticket, row = number / chunks;
    const int chunk = (int)(number - row * chunks);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int base = chunk * CHUNK + (int)threadIdx.x * EACH;
    const uint32_t *x = in + row * d;
    uint32_t v[EACH], own = 0;
    if (d % 4 == 0 && base + EACH <= d) {
        *reinterpret_cast<uint4 *>(v) = __ldcs(reinterpret_cast<const uint4 *>(x + base));
        *reinterpret_cast<uint4 *>(v + 4) = __ldcs(reinterpret_cast<const uint4 *>(x + base + 4));
    } else {
#pragma unroll
        for (int j = 0; j < EACH; j++)
            v[j] = base + j < d ? x[base + j] : 0u;
    }
#pragma unroll
    for (int j = 0; j < EACH; j++)
        v[j] = own += v[j];
    uint32_t sum = own;
#pragma unroll
    for (int k = 1; k < 32; k *= 2) {
        uint32_t left = __shfl_up_sync(~0u, sum, k);
        if (lane >= k)
            sum += left;
    }
    if (lane == 31)
        total_of[warp] = sum;
    __syncthreads();
    uint32_t before = sum - own, all = 0;
#pragma unroll
    for (int w = 0; w < THREADS / 32; w++) {
        before += w < warp ? total_of[w] : 0u;
        all += total_of[w];
    }
    if (threadIdx.x == 0) {
        uint32_t carry = 0;
        if (chunk) {
            publish(state + number, 1, all);
            for (int64_t at = number - 1;; at--) {
                unsigned long long got = look(state + at);
                while (!(got >> 32))
                    got = look(state + at);
                carry += (uint32_t)got;
                if (got >> 32 == 2)
                    break;
            }
        }
        publish(state + number, 2, carry + all);
        carry_in = carry;
    }
    __syncthreads();
    before += carry_in;
    uint32_t *y = out + row * d;
    if (d % 4 == 0 && base + EACH <= d) {
        reinterpret_cast<uint4 *>(y + base)[0] = make_uint4(before + v[0], before + v[1], before + v[2], before + v[3]);
        reinterpret_cast<uint4 *>(y + base)[1] = make_uint4(before + v[4], before + v[5], before + v[6], before + v[7]);
    } else {
#pragma unroll
        for (int j = 0; j < EACH; j++)
            if (base + j < d)
                y[base + j] = before + v[j];
    }
}
} // namespace chunked

extern "C" void scan(uint32_t *out, const uint32_t *in, int rows, int d, cudaStream_t stream)
{
    const int chunks = (d + chunked::CHUNK - 1) / chunked::CHUNK;
    const int64_t count = (int64_t)rows * chunks;
    unsigned long long *state;
    if (cudaMallocAsync((void **)&state, (count + 1) * sizeof(*state), stream) != cudaSuccess)
        return;
    cudaMemsetAsync(state, 0, (count + 1) * sizeof(*state), stream);
    chunked::scan_kernel<<<(unsigned)count, chunked::THREADS, 0, stream>>>(out, in, state, count, d, chunks);
    cudaFreeAsync(state, stream);
}
