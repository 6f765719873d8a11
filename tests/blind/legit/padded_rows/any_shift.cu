// Stores of 16 bytes; the row's loads are of 16 bytes, too, and put in place by the row's shift (0 to 3), chosen by a template; loads at the edges one by one.
#include <cstdint>

template <int SHIFT> __device__ __forceinline__ float4 pick(float4 a, float4 b)
{
    if constexpr (SHIFT == 0)
        return a;
    else if constexpr (SHIFT == 1)
        return make_float4(a.y, a.z, a.w, b.x);
    else if constexpr (SHIFT == 2)
        return make_float4(a.z, a.w, b.x, b.y);
    else
        return make_float4(a.w, b.x, b.y, b.z);
}

template <int SHIFT> __device__ void row_of(float *to, const float *from, int v, int p, int first, int step)
{
    const float4 *aligned = reinterpret_cast<const float4 *>(from - SHIFT);
    for (int i = first; i < p / 4; i += step) {
        const int at = i * 4;
        float4 r;
        if (at >= 4 && at + 8 <= v) {
            float4 a = __ldg(aligned + i);
            r = SHIFT ? pick<SHIFT>(a, __ldg(aligned + i + 1)) : a;
        } else {
            r.x = at < v ? from[at] : 0.0f;
            r.y = at + 1 < v ? from[at + 1] : 0.0f;
            r.z = at + 2 < v ? from[at + 2] : 0.0f;
            r.w = at + 3 < v ? from[at + 3] : 0.0f;
        }
        reinterpret_cast<float4 *>(to)[i] = r;
    }
}

__global__ void __launch_bounds__(256) pad_kernel(float *out, const float *in, int v, int p)
{
    const int64_t row = blockIdx.y;
    const float *from = in + row * v;
    float *to = out + row * p;
    const int first = blockIdx.x * 256 + threadIdx.x, step = gridDim.x * 256;
    switch (row * v & 3) {
    case 0:
        row_of<0>(to, from, v, p, first, step);
        break;
    case 1:
        row_of<1>(to, from, v, p, first, step);
        break;
    case 2:
        row_of<2>(to, from, v, p, first, step);
        break;
    default:
        row_of<3>(to, from, v, p, first, step);
    }
}

extern "C" void pad_rows(float *out, const float *in, int rows, int v, int p, cudaStream_t stream)
{
    const int blocks = (p / 4 + 255) / 256;
    pad_kernel<<<dim3(blocks < 16 ? blocks : 16, rows), 256, 0, stream>>>(out, in, v, p);
}
