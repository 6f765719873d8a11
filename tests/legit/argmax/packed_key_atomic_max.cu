// expect: correct
// Rows split over blocks: an order-preserving key above the inverted index in 64 bits, the greatest by redux and one atomicMax a block.
#include <cstdint>

constexpr int THREADS = 256;

// NaN above all, -0 equal to +0, -inf above the 0 that stands for no element.
__device__ __forceinline__ unsigned key_of(float x)
{
    unsigned bits = __float_as_uint(x);
    if (x != x)
        return 0xffffffffu;
    if (x == 0.0f)
        return 0x80000000u;
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

template <bool VEC>
__global__ void __launch_bounds__(THREADS) argmax_parts(unsigned long long *best, const float *__restrict__ logits, int n)
{
    __shared__ unsigned keys[THREADS / 32], places[THREADS / 32];
    const float *x = logits + (int64_t)blockIdx.y * n;
    unsigned key = 0, place = 0xffffffffu;
    int first = blockIdx.x * THREADS + threadIdx.x, stride = gridDim.x * THREADS;
    if constexpr (VEC) {
        for (int i = first; i < n / 4; i += stride) {
            float4 v = __ldcs(reinterpret_cast<const float4 *>(x) + i);
            float f[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
            for (int k = 0; k < 4; k++) {
                unsigned own = key_of(f[k]);
                if (own > key) {
                    key = own;
                    place = 4 * i + k;
                }
            }
        }
    } else {
        for (int i = first; i < n; i += stride) {
            unsigned own = key_of(x[i]);
            if (own > key) {
                key = own;
                place = i;
            }
        }
    }

    unsigned top = __reduce_max_sync(0xffffffffu, key);
    place = __reduce_min_sync(0xffffffffu, key == top ? place : 0xffffffffu);
    if (threadIdx.x % 32 == 0) {
        keys[threadIdx.x / 32] = top;
        places[threadIdx.x / 32] = place;
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        key = threadIdx.x < THREADS / 32 ? keys[threadIdx.x] : 0;
        place = threadIdx.x < THREADS / 32 ? places[threadIdx.x] : 0xffffffffu;
        top = __reduce_max_sync(0xffffffffu, key);
        place = __reduce_min_sync(0xffffffffu, key == top ? place : 0xffffffffu);
        if (threadIdx.x == 0)
            atomicMax(&best[blockIdx.y], (unsigned long long)top << 32 | (unsigned)~place);
    }
}

__global__ void argmax_finish(float *value, int64_t *index, const float *logits, const unsigned long long *best, int rows,
                              int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    unsigned place = ~(unsigned)best[row];
    index[row] = place;
    value[row] = logits[(int64_t)row * n + place]; // the element's own bits: the sign of a zero, the NaN
}

extern "C" void argmax(float *value, int64_t *index, const float *logits, int rows, int n, cudaStream_t stream)
{
    unsigned long long *best;
    if (cudaMallocAsync((void **)&best, (size_t)rows * sizeof(unsigned long long), stream) != cudaSuccess)
        return;
    cudaMemsetAsync(best, 0, (size_t)rows * sizeof(unsigned long long), stream);
    int splits = (n + THREADS * 16 - 1) / (THREADS * 16);
    int useful = (1056 + rows - 1) / rows;
    dim3 grid(splits < useful ? splits : useful, rows);
    if (n % 4 == 0)
        argmax_parts<true><<<grid, THREADS, 0, stream>>>(best, logits, n);
    else
        argmax_parts<false><<<grid, THREADS, 0, stream>>>(best, logits, n);
    argmax_finish<<<(rows + 127) / 128, 128, 0, stream>>>(value, index, logits, best, rows, n);
    cudaFreeAsync(best, stream);
}
