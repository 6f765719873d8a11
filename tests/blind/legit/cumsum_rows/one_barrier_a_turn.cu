// Right: a turn of the block scans 1024 numbers (four a thread, shuffles within warps) with one barrier; the warps' sums
// lie in two buffers by turns, and a thread that writes one again has passed the barrier behind all reads of it.
#include <cstdint>

constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;

template <bool VECTORS>
__global__ void __launch_bounds__(THREADS)
    cumsum_kernel(unsigned *__restrict__ out, const unsigned *__restrict__ in, int d)
{
    __shared__ unsigned sums[2][WARPS];
    const int64_t row = (int64_t)blockIdx.x * d;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    unsigned before = 0;
    int turn = 0;
    for (int first = 0; first < d; first += 4 * THREADS) {
        const int i = first + 4 * threadIdx.x;
        uint4 v = make_uint4(0, 0, 0, 0);
        if (VECTORS) {
            if (i < d)
                v = *reinterpret_cast<const uint4 *>(in + row + i);
        } else {
            if (i < d)
                v.x = in[row + i];
            if (i + 1 < d)
                v.y = in[row + i + 1];
            if (i + 2 < d)
                v.z = in[row + i + 2];
            if (i + 3 < d)
                v.w = in[row + i + 3];
        }
        v.y += v.x;
        v.z += v.y;
        v.w += v.z;
        unsigned scan = v.w; // of the threads of the warp up to this one
        for (int step = 1; step < 32; step *= 2) {
            const unsigned other = __shfl_up_sync(0xffffffffu, scan, step);
            if (lane >= step)
                scan += other;
        }
        if (lane == 31)
            sums[turn][warp] = scan;
        __syncthreads();
        unsigned base = before + scan - v.w;
#pragma unroll
        for (int w = 0; w < WARPS; w++) {
            const unsigned sum = sums[turn][w];
            if (w < warp)
                base += sum;
            before += sum;
        }
        v.x += base;
        v.y += base;
        v.z += base;
        v.w += base;
        if (VECTORS) {
            if (i < d)
                *reinterpret_cast<uint4 *>(out + row + i) = v;
        } else {
            if (i < d)
                out[row + i] = v.x;
            if (i + 1 < d)
                out[row + i + 1] = v.y;
            if (i + 2 < d)
                out[row + i + 2] = v.z;
            if (i + 3 < d)
                out[row + i + 3] = v.w;
        }
        turn ^= 1;
    }
}

extern "C" void cumsum_rows(unsigned *out, const unsigned *in, int rows, int d, cudaStream_t stream)
{
    if (d % 4 == 0 && (uintptr_t)out % 16 == 0 && (uintptr_t)in % 16 == 0)
        cumsum_kernel<true><<<rows, THREADS, 0, stream>>>(out, in, d);
    else
        cumsum_kernel<false><<<rows, THREADS, 0, stream>>>(out, in, d);
}
