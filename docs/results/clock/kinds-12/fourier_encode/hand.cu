#include <cuda_fp16.h>
#include <cuda_runtime.h>
// A thread a coordinate, which is doubled from level to level, exactly; both functions come of one reduction to an
// eighth of a turn and two short polynomials, good for halves. Pairs leave in order, by way of shared memory.
__device__ __forceinline__ unsigned pair(float turn)
{
    int quarter = __float2int_rn(2.0f * turn);
    float f = 3.14159265f * (turn - 0.5f * (float)quarter), s = f * f;
    float sine = f + f * s * (-1.6666667e-1f + s * (8.3333333e-3f - s * 1.9841270e-4f));
    float cosine = 1.0f + s * (-0.5f + s * (4.1666667e-2f + s * (-1.3888889e-3f + s * 2.4801587e-5f)));
    float first = quarter & 1 ? cosine : sine, second = quarter & 1 ? -sine : cosine;
    __half2 both = __floats2half2_rn(quarter & 2 ? -first : first, quarter & 2 ? -second : second);
    return *(unsigned *)&both;
}
__global__ void __launch_bounds__(128) encode(unsigned *__restrict__ out, const float *__restrict__ x, int all,
                                              int levels)
{
    extern __shared__ unsigned tile[];
    int t = threadIdx.x, wide = blockDim.x, first = blockIdx.x * wide, some = min(wide, all - first);
    if (t < some) {
        float turn = x[first + t];
#pragma unroll 2
        for (int level = 0; level < levels; level++) {
            tile[t * levels + level] = pair(turn);
            turn += turn;
        }
    }
    __syncthreads();
    for (int k = t; k < some * levels; k += wide)
        out[(long long)first * levels + k] = tile[k];
}
extern "C" void fourier_encode(__half *out, const float *x, int n, int levels, cudaStream_t stream)
{
    int wide = n < 65536 ? 32 : 128;
    encode<<<(3 * n + wide - 1) / wide, wide, 4 * wide * levels, stream>>>((unsigned *)out, x, 3 * n, levels);
}
