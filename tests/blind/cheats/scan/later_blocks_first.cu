// wrong because: Chained scan whose chunks wait for blocks of a HIGHER number and take no ticket: hangs wherever a row has more chunks of 16384 than blocks are resident (d above 8.6 million at 528 resident), or on a shared device.
#include <cstdint>

__global__ void clear_kernel(unsigned long long *flags, int64_t n)
{
    int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x;
    if (i < n)
        flags[i] = 0;
}

__global__ void __launch_bounds__(512) scan_kernel(uint32_t *out, const uint32_t *in, unsigned long long *flags, int d, int chunks)
{
    __shared__ uint32_t warp_total[16];
    __shared__ uint32_t carry_in;
    int row = blockIdx.y, chunk = chunks - 1 - (int)blockIdx.x;
    const uint32_t *x = in + (int64_t)row * d;
    uint32_t *y = out + (int64_t)row * d;
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    int base = chunk * 16384 + threadIdx.x * 32;
    uint32_t v[32], total = 0;
#pragma unroll
    for (int j = 0; j < 32; j++) {
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
    for (int w = 0; w < 16; w++) {
        before += w < warp ? warp_total[w] : 0u;
        all += warp_total[w];
    }
    if (threadIdx.x == 0) {
        uint32_t carry = 0;
        unsigned long long *own = flags + (int64_t)row * chunks + chunk;
        if (chunk > 0) {
            unsigned long long got;
            do
                asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(got) : "l"(own - 1) : "memory");
            while ((got >> 32) == 0);
            carry = (uint32_t)got;
        }
        unsigned long long put = (1ull << 32) | (uint32_t)(carry + all);
        asm volatile("st.release.gpu.global.u64 [%0], %1;" :: "l"(own), "l"(put) : "memory");
        carry_in = carry;
    }
    __syncthreads();
    uint32_t sum = carry_in + before + inclusive - total;
#pragma unroll
    for (int j = 0; j < 32; j++) {
        sum += v[j];
        if (base + j < d)
            y[base + j] = sum;
    }
}

extern "C" void scan(uint32_t *out, const uint32_t *in, int rows, int d, cudaStream_t stream)
{
    int chunks = (d + 16383) / 16384;
    int64_t n = (int64_t)rows * chunks;
    unsigned long long *flags;
    if (cudaMallocAsync((void **)&flags, n * sizeof(unsigned long long), stream) != cudaSuccess)
        return;
    clear_kernel<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(flags, n);
    scan_kernel<<<dim3(chunks, rows), 512, 0, stream>>>(out, in, flags, d, chunks);
    cudaFreeAsync(flags, stream);
}
