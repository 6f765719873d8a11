// wrong because: Single pass with look-back; the state of a chunk is 2 bits of flag and 30 bits of sum, so rows longer than one chunk (4096) whose prefix reaches 2^30 lose the upper bits.
#include <cstdint>

constexpr int THREADS = 256, EACH = 16, CHUNK = THREADS * EACH;

__global__ void __launch_bounds__(THREADS) scan_kernel(uint32_t *out, const uint32_t *in, unsigned *state, unsigned *ticket, int d, int chunks)
{
    __shared__ uint32_t warp_total[THREADS / 32];
    __shared__ uint32_t carry_in, number;
    if (threadIdx.x == 0)
        number = atomicAdd(ticket, 1u);
    __syncthreads();
    int row = number / chunks, chunk = number % chunks;
    const uint32_t *x = in + (int64_t)row * d;
    uint32_t *y = out + (int64_t)row * d;
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    int base = chunk * CHUNK + threadIdx.x * EACH;
    uint32_t v[EACH], total = 0;
#pragma unroll
    for (int j = 0; j < EACH; j++) {
        v[j] = base + j < d ? x[base + j] : 0u;
        total += v[j];
    }
    uint32_t inclusive = total;
    for (int k = 1; k < 32; k <<= 1) {
        uint32_t left = __shfl_up_sync(~0u, inclusive, k);
        inclusive += lane >= k ? left : 0u;
    }
    if (lane == 31)
        warp_total[warp] = inclusive;
    __syncthreads();
    uint32_t before = 0, all = 0;
    for (int w = 0; w < THREADS / 32; w++) {
        before += w < warp ? warp_total[w] : 0u;
        all += warp_total[w];
    }
    if (threadIdx.x == 0) {
        uint32_t carry = 0;
        unsigned *own = state + number;
        if (chunk > 0) {
            __threadfence();
            atomicExch(own, 0x40000000u | (all & 0x3fffffffu));
            for (unsigned *at = own - 1;; at--) {
                unsigned got;
                do
                    got = atomicAdd(at, 0u);
                while ((got >> 30) == 0);
                carry += got & 0x3fffffffu;
                if (got >> 31)
                    break;
            }
        }
        __threadfence();
        atomicExch(own, 0x80000000u | ((carry + all) & 0x3fffffffu));
        carry_in = carry;
    }
    __syncthreads();
    uint32_t sum = carry_in + before + inclusive - total;
#pragma unroll
    for (int j = 0; j < EACH; j++) {
        sum += v[j];
        if (base + j < d)
            y[base + j] = sum;
    }
}

extern "C" void scan(uint32_t *out, const uint32_t *in, int rows, int d, cudaStream_t stream)
{
    int chunks = (d + CHUNK - 1) / CHUNK;
    size_t n = (size_t)rows * chunks;
    unsigned *state;
    if (cudaMallocAsync((void **)&state, (n + 1) * sizeof(unsigned), stream) != cudaSuccess)
        return;
    cudaMemsetAsync(state, 0, (n + 1) * sizeof(unsigned), stream);
    scan_kernel<<<(unsigned)n, THREADS, 0, stream>>>(out, in, state, state + n, d, chunks);
    cudaFreeAsync(state, stream);
}
