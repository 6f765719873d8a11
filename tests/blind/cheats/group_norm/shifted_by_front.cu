// wrong because: One pass over the data: sums of x - s and its square, s the mean of the group's first 32 elements; cancels (or overflows) where these lie far from the rest, e.g. first 32 near 1e6, the other 260,000 N(0, 1).
__device__ __forceinline__ float2 warp_sum(float2 v)
{
    for (int k = 16; k; k >>= 1) {
        v.x += __shfl_xor_sync(~0u, v.x, k);
        v.y += __shfl_xor_sync(~0u, v.y, k);
    }
    return v;
}

__global__ void __launch_bounds__(512) group_norm_kernel(float *y, const float *x, const float *gamma, const float *beta, int c,
                                                         int hw, int groups, float eps)
{
    __shared__ float2 part[16];
    int per = c / groups, count = per * hw;
    long long first = ((long long)blockIdx.y * c + blockIdx.x * per) * hw;
    const float *g = x + first;
    int front = min(count, 32), lane = threadIdx.x & 31;
    float2 head = warp_sum(make_float2(lane < front ? g[lane] : 0.0f, 0.0f));
    float shift = head.x / front;
    float2 s = make_float2(0.0f, 0.0f);
    for (int i = threadIdx.x; i < count; i += 512) {
        float v = g[i] - shift;
        s.x += v;
        s.y += v * v;
    }
    s = warp_sum(s);
    if (lane == 0)
        part[threadIdx.x >> 5] = s;
    __syncthreads();
    s = warp_sum(lane < 16 ? part[lane] : make_float2(0.0f, 0.0f));
    float off = s.x / count;
    float mean = shift + off;
    float rstd = rsqrtf(fmaxf(s.y / count - off * off, 0.0f) + eps);
    for (int p = 0; p < per; p++) {
        int channel = blockIdx.x * per + p;
        float scale = rstd * gamma[channel], bias = beta[channel];
        for (int i = threadIdx.x; i < hw; i += 512)
            y[first + (long long)p * hw + i] = (g[(long long)p * hw + i] - mean) * scale + bias;
    }
}

extern "C" void group_norm(float *y, const float *x, const float *gamma, const float *beta, int n, int c, int hw,
                           int groups, float eps, cudaStream_t stream)
{
    group_norm_kernel<<<dim3(groups, n), 512, 0, stream>>>(y, x, gamma, beta, c, hw, groups, eps);
}
