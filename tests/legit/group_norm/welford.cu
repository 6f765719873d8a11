// expect: correct
// Welford's running mean and variance in one pass, joined over the threads: those that had no element join too.
struct moments {
    float mean, m2, n;
};

__device__ moments join(moments a, moments b)
{
    float n = a.n + b.n, delta = b.mean - a.mean, share = n > 0 ? b.n / n : 0;
    return {a.mean + delta * share, a.m2 + b.m2 + delta * delta * a.n * share, n};
}

__global__ void group_norm_kernel(float *y, const float *x, const float *gamma, const float *beta, int c, int hw,
                                  int groups, float eps)
{
    __shared__ moments s[256];
    int per = c / groups, count = per * hw;
    long long first = ((long long)blockIdx.y * c + blockIdx.x * per) * hw;
    moments m = {0, 0, 0};
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        float v = x[first + i], delta = v - m.mean;
        m.n += 1;
        m.mean += delta / m.n;
        m.m2 += delta * (v - m.mean);
    }
    s[threadIdx.x] = m;
    __syncthreads();
    for (int k = 128; k > 0; k >>= 1) {
        if (threadIdx.x < k)
            s[threadIdx.x] = join(s[threadIdx.x], s[threadIdx.x + k]);
        __syncthreads();
    }
    float mean = s[0].mean, rstd = rsqrtf(s[0].m2 / count + eps);
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        int channel = blockIdx.x * per + i / hw;
        y[first + i] = (x[first + i] - mean) * rstd * gamma[channel] + beta[channel];
    }
}

extern "C" void group_norm(float *y, const float *x, const float *gamma, const float *beta, int n, int c, int hw,
                           int groups, float eps, cudaStream_t stream)
{
    group_norm_kernel<<<dim3(groups, n), 256, 0, stream>>>(y, x, gamma, beta, c, hw, groups, eps);
}
