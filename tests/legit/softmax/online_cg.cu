// expect: correct
// One pass for maximum and sum together (online), joined over the block by shuffles.
#include <cuda_runtime.h>
#include <cfloat>

struct State {
    float m, s;
    __device__ State(float m_, float s_) : m(m_), s(s_) {}
    __device__ State() = default;
    __device__ State &operator+=(const State &o)
    {
        float big = fmaxf(m, o.m);
        s = s * __expf(m - big) + o.s * __expf(o.m - big);
        m = big;
        return *this;
    }
};

__device__ inline State warp_join(State a)
{
#pragma unroll
    for (int k = 16; k; k >>= 1)
        a += State(__shfl_xor_sync(0xffffffffu, a.m, k), __shfl_xor_sync(0xffffffffu, a.s, k));
    return a;
}

__global__ void softmax_kernel(float *__restrict__ out, const float *__restrict__ in, int d)
{
    __shared__ float ms[32], ss[32];
    const float *x = in + (size_t)blockIdx.x * d;
    float *y = out + (size_t)blockIdx.x * d;
    State a(-FLT_MAX, 0.0f);
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        a += State(x[i], 1.0f);
    a = warp_join(a);
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    if (lane == 0) {
        ms[warp] = a.m;
        ss[warp] = a.s;
    }
    __syncthreads();
    a = lane < blockDim.x / 32 ? State(ms[lane], ss[lane]) : State(-FLT_MAX, 0.0f);
    a = warp_join(a);
    const float inv = 1.0f / a.s;
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        y[i] = __expf(x[i] - a.m) * inv;
}

extern "C" void softmax(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    softmax_kernel<<<rows, d > 2048 ? 512 : 128, 0, stream>>>(out, in, d);
}
