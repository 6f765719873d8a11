// Online softmax with a struct merged by shuffles; rows that fit are kept in dynamic shared memory and read once.
#include <cstdint>

struct Running {
    float most, sum;
};

__device__ __forceinline__ void add(Running &r, float x)
{
    if (x > r.most) {
        r.sum = r.sum * __expf(r.most - x) + 1.0f;
        r.most = x;
    } else {
        r.sum += __expf(x - r.most);
    }
}

__device__ __forceinline__ Running merge(const Running &a, const Running &b)
{
    bool left = a.most >= b.most;
    Running hi = left ? a : b, lo = left ? b : a;
    hi.sum += lo.sum == 0.0f ? 0.0f : lo.sum * __expf(lo.most - hi.most);
    return hi;
}

template <bool STAGED> __global__ void __launch_bounds__(512) softmax_kernel(float *__restrict__ out, const float *__restrict__ in, int d)
{
    extern __shared__ float stage[];
    __shared__ Running part[16];
    const float *x = in + (int64_t)blockIdx.x * d;
    float *y = out + (int64_t)blockIdx.x * d;
    Running r = {-3.402823466e+38f, 0.0f};
    if (STAGED && d % 4 == 0) {
        for (int i = threadIdx.x; i < d / 4; i += 512) {
            float4 v = __ldcs(reinterpret_cast<const float4 *>(x) + i);
            reinterpret_cast<float4 *>(stage)[i] = v;
            add(r, v.x);
            add(r, v.y);
            add(r, v.z);
            add(r, v.w);
        }
    } else {
        for (int i = threadIdx.x; i < d; i += 512) {
            float v = x[i];
            if (STAGED)
                stage[i] = v;
            add(r, v);
        }
    }
#pragma unroll
    for (int k = 16; k; k /= 2) {
        Running o;
        o.most = __shfl_xor_sync(0xffffffffu, r.most, k);
        o.sum = __shfl_xor_sync(0xffffffffu, r.sum, k);
        r = merge(r, o);
    }
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = r;
    __syncthreads();
    r = part[0];
#pragma unroll
    for (int w = 1; w < 16; w++)
        r = merge(r, part[w]);
    const float scale = 1.0f / r.sum;
    if (STAGED && d % 4 == 0) {
        for (int i = threadIdx.x; i < d / 4; i += 512) {
            float4 v = reinterpret_cast<float4 *>(stage)[i];
            v.x = __expf(v.x - r.most) * scale;
            v.y = __expf(v.y - r.most) * scale;
            v.z = __expf(v.z - r.most) * scale;
            v.w = __expf(v.w - r.most) * scale;
            reinterpret_cast<float4 *>(y)[i] = v;
        }
    } else {
        for (int i = threadIdx.x; i < d; i += 512)
            y[i] = __expf((STAGED ? stage[i] : x[i]) - r.most) * scale;
    }
}

extern "C" void softmax(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    if (d <= 40000) {
        int bytes = d * (int)sizeof(float);
        cudaFuncSetAttribute(softmax_kernel<true>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
        softmax_kernel<true><<<rows, 512, bytes, stream>>>(out, in, d);
    } else {
        softmax_kernel<false><<<rows, 512, 0, stream>>>(out, in, d);
    }
}
