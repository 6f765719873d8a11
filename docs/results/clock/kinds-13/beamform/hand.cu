#include <cuda_runtime.h>
// A block has 512 samples of up to eight beams: the samples of eight microphones at a time lie in shared memory, and a
// thread has two or four samples of every beam, so that a delay and its gain are read once for all of them.
constexpr int SPAN = 512, MICS = 8;
template <int BEAMS, int THREADS>
__global__ void __launch_bounds__(THREADS)
    steer(float *__restrict__ out, const float *__restrict__ in, const int *__restrict__ delay,
          const float *__restrict__ gain, int beams, int mics, int n)
{
    constexpr int EACH = SPAN / THREADS, WIDE = SPAN + 64;
    __shared__ float tile[MICS * WIDE];
    __shared__ int2 lateness[BEAMS * MICS];
    int t = threadIdx.x, first = blockIdx.x * SPAN, top = blockIdx.y * BEAMS, all = n + 64;
    float sum[BEAMS][EACH];
#pragma unroll
    for (int b = 0; b < BEAMS; b++)
#pragma unroll
        for (int k = 0; k < EACH; k++)
            sum[b][k] = 0.0f;
    for (int base = 0; base < mics; base += MICS) {
        const float *from = in + (long long)base * all + first;
#pragma unroll 9
        for (int i = t; i < MICS * WIDE; i += THREADS) {
            int m = i / WIDE, x = i % WIDE;
            tile[i] = base + m < mics && first + x < all ? from[(long long)m * all + x] : 0.0f;
        }
        for (int i = t; i < BEAMS * MICS; i += THREADS) {
            int b = top + i / MICS, m = base + i % MICS;
            bool is = b < beams && m < mics;
            lateness[i] = is ? make_int2(delay[b * mics + m], __float_as_int(gain[b * mics + m])) : make_int2(0, 0);
        }
        __syncthreads();
        int some = min(MICS, mics - base);
#pragma unroll 2
        for (int m = 0; m < some; m++) {
#pragma unroll
            for (int b = 0; b < BEAMS; b++) {
                int2 late = lateness[b * MICS + m];
                const float *at = tile + m * WIDE + t + late.x;
#pragma unroll
                for (int k = 0; k < EACH; k++)
                    sum[b][k] += __int_as_float(late.y) * at[k * THREADS];
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int b = 0; b < BEAMS; b++)
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            int x = first + t + k * THREADS;
            if (top + b < beams && x < n)
                out[(long long)(top + b) * n + x] = sum[b][k];
        }
}
extern "C" void beamform(float *out, const float *in, const int *delay, const float *gain, int beams, int mics, int n,
                         cudaStream_t stream)
{
    int spans = (n + SPAN - 1) / SPAN;
    if (beams < 8) {
        dim3 grid(spans, (beams + 1) / 2);
        steer<2, 256><<<grid, 256, 0, stream>>>(out, in, delay, gain, beams, mics, n);
    } else {
        dim3 grid(spans, (beams + 7) / 8);
        steer<8, 128><<<grid, 128, 0, stream>>>(out, in, delay, gain, beams, mics, n);
    }
}
