// Eight warps take a segment's rows in turn and join their sums in shared memory; columns in lanes, four each where rows are aligned.
#include <cstdint>

template <typename V> struct lanes;
template <> struct lanes<float> { static constexpr int count = 1; };
template <> struct lanes<float4> { static constexpr int count = 4; };

__device__ float add(float a, float b) { return a + b; }
__device__ float4 add(float4 a, float4 b) { return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }

template <typename V> __global__ void __launch_bounds__(256) segment_sum_kernel(V *out, const V *in, const int *ends, int each)
{
    __shared__ V part[8][32];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, first = ends[blockIdx.x], end = ends[blockIdx.x + 1];
    for (int column0 = 0; column0 < each; column0 += 32) {
        const int column = column0 + lane;
        V sum = {};
        if (column < each)
            for (int row = first + warp; row < end; row += 8)
                sum = add(sum, __ldcs(in + (int64_t)row * each + column));
        part[warp][lane] = sum;
        __syncthreads();
#pragma unroll
        for (int half = 4; half; half >>= 1) {
            if (warp < half)
                part[warp][lane] = add(part[warp][lane], part[warp + half][lane]);
            __syncthreads();
        }
        if (warp == 0 && column < each)
            out[(int64_t)blockIdx.x * each + column] = part[0][lane];
        __syncthreads();
    }
}

extern "C" cudaError_t segment_sum(float *out, const float *in, const int *ends, int segments, int d, cudaStream_t stream)
{
    if (d % lanes<float4>::count == 0)
        segment_sum_kernel<float4><<<segments, 256, 0, stream>>>(reinterpret_cast<float4 *>(out), reinterpret_cast<const float4 *>(in), ends, d / lanes<float4>::count);
    else
        segment_sum_kernel<float><<<segments, 256, 0, stream>>>(out, in, ends, d);
    return cudaGetLastError();
}
