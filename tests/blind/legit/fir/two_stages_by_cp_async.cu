// Right: a block makes 512 results, four a thread; the numbers for the next 64 taps are on their way by cp.async while the
// present 64 are added, in two buffers by turns. Taps are added in the original's order.
#include <cstdint>

constexpr int THREADS = 128;
constexpr int EACH = 4;
constexpr int RESULTS = THREADS * EACH;
constexpr int TAPS = 64;
constexpr int SPAN = RESULTS + TAPS; // one more than needed

__device__ void copy_or_zero(float *to, const float *from, bool there)
{
    if (there) {
        const unsigned place = (unsigned)__cvta_generic_to_shared(to);
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(place), "l"(from) : "memory");
    } else {
        *to = 0.0f;
    }
}

__global__ void __launch_bounds__(THREADS)
    fir_kernel(float *__restrict__ out, const float *__restrict__ x, const float *__restrict__ h, int n, int taps)
{
    __shared__ float numbers[2][SPAN];
    __shared__ float weights[2][TAPS];
    const int64_t base = (int64_t)blockIdx.x * RESULTS;
    const int64_t length = (int64_t)n + taps - 1;
    const int stages = (taps + TAPS - 1) / TAPS;
    float sum[EACH] = {0.0f, 0.0f, 0.0f, 0.0f};

    for (int stage = 0; stage <= stages; stage++) {
        if (stage < stages) {
            const int first = stage * TAPS;
            for (int j = threadIdx.x; j < SPAN; j += THREADS)
                copy_or_zero(&numbers[stage % 2][j], x + base + first + j, base + first + j < length);
            if (threadIdx.x < TAPS)
                copy_or_zero(&weights[stage % 2][threadIdx.x], h + first + threadIdx.x, first + (int)threadIdx.x < taps);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
        if (stage == 0)
            continue;
        asm volatile("cp.async.wait_group 1;" ::: "memory"); // all but the newest, which is for the next turn
        __syncthreads();
        const int now = (stage - 1) % 2;
        const int count = min(TAPS, taps - (stage - 1) * TAPS);
        for (int k = 0; k < count; k++) {
            const float weight = weights[now][k];
#pragma unroll
            for (int e = 0; e < EACH; e++)
                sum[e] += weight * numbers[now][e * THREADS + threadIdx.x + k];
        }
        __syncthreads(); // the buffer is free for the stage after the next
    }

#pragma unroll
    for (int e = 0; e < EACH; e++) {
        const int64_t i = base + e * THREADS + threadIdx.x;
        if (i < n)
            out[i] = sum[e];
    }
}

extern "C" void fir(float *out, const float *x, const float *h, int n, int taps, cudaStream_t stream)
{
    fir_kernel<<<(unsigned)(((int64_t)n + RESULTS - 1) / RESULTS), THREADS, 0, stream>>>(out, x, h, n, taps);
}
