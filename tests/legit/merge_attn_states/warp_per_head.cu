// expect: correct
// Weights once per head; a warp a head, eight halves a lane where rows are aligned. INFINITY without <cmath>.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

struct __align__(16) half8 {
    __half2 v[4];
};

__device__ __forceinline__ half8 operator*(const half8 &a, float w)
{
    half8 r;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        float2 f = __half22float2(a.v[i]);
        r.v[i] = __floats2half2_rn(f.x * w, f.y * w);
    }
    return r;
}

__global__ void merge(const __half *__restrict__ v_a, const float *__restrict__ s_a, const __half *__restrict__ v_b,
                      const float *__restrict__ s_b, __half *__restrict__ v, float *__restrict__ s, long long heads,
                      int dim)
{
    const int lane = threadIdx.x;
    for (long long head = (long long)blockIdx.x * blockDim.y + threadIdx.y; head < heads;
         head += (long long)gridDim.x * blockDim.y) {
        const float a = s_a[head], b = s_b[head], m = fmaxf(a, b);
        const __half *pa = v_a + head * dim, *pb = v_b + head * dim;
        __half *po = v + head * dim;
        if (m == -INFINITY) {
            for (int i = lane; i < dim; i += 32)
                po[i] = __float2half(0.f);
            if (lane == 0)
                s[head] = -INFINITY;
            continue;
        }
        const float ea = exp2f(a - m), eb = exp2f(b - m), inv = 1.f / (ea + eb);
        const float wa = ea * inv, wb = eb * inv;
        if (lane == 0)
            s[head] = m + log2f(ea + eb);
        if ((dim & 7) == 0) {
            for (int i = lane; i < dim / 8; i += 32) {
                half8 x = reinterpret_cast<const half8 *>(pa)[i], y = reinterpret_cast<const half8 *>(pb)[i], r;
#pragma unroll
                for (int k = 0; k < 4; k++) {
                    float2 fx = __half22float2(x.v[k]), fy = __half22float2(y.v[k]);
                    r.v[k] = __float22half2_rn(make_float2(fx.x * wa + fy.x * wb, fx.y * wa + fy.y * wb));
                }
                reinterpret_cast<half8 *>(po)[i] = r;
            }
        } else {
            for (int i = lane; i < dim; i += 32)
                po[i] = __float2half_rn(__half2float(pa[i]) * wa + __half2float(pb[i]) * wb);
        }
    }
}

extern "C" void merge_attn_states(const __half *v_a, const float *s_a, const __half *v_b, const float *s_b, __half *v,
                                  float *s, int tokens, int heads, int dim, cudaStream_t stream)
{
    const long long n = (long long)tokens * heads;
    const long long most = 2147483647, blocks = (n + 3) / 4;    // in the domain's corner there are more than a grid has
    merge<<<(unsigned)(blocks < most ? blocks : most), dim3(32, 4), 0, stream>>>(v_a, s_a, v_b, s_b, v, s, n, dim);
}
