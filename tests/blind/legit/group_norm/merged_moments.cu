// RIGHT: mean and squared distances in one pass by Welford's steps, merged in double by counts (a thread without elements has count 0 and changes nothing, however large the mean); the channel is carried along without a division.
struct moments {
    float n;
    double mean, m2;
};

__device__ moments merge(moments a, moments b)
{
    float n = a.n + b.n;
    if (n == 0.f)
        return a;
    double delta = b.mean - a.mean, part = b.n / n;
    return {n, a.mean + delta * part, a.m2 + b.m2 + delta * part * (delta * a.n)};
}

__global__ void group_norm_kernel(float *y, const float *x, const float *gamma, const float *beta, int c, int hw,
                                  int groups, float eps)
{
    __shared__ moments warps[16];
    int per = c / groups, count = per * hw;
    long long first = ((long long)blockIdx.y * c + blockIdx.x * per) * hw;
    float n = 0.f, mean = 0.f, m2 = 0.f;
    for (int i = threadIdx.x; i < count; i += 512) {
        float v = x[first + i], delta = v - mean;
        n += 1.f;
        mean += delta / n;
        m2 = fmaf(delta, v - mean, m2);
    }
    moments own = {n, mean, m2};
    for (int s = 16; s; s >>= 1) {
        moments other = {__shfl_down_sync(~0u, own.n, s), __shfl_down_sync(~0u, own.mean, s),
                         __shfl_down_sync(~0u, own.m2, s)};
        own = merge(own, other);
    }
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = own;
    __syncthreads();
    own = warps[0];
    for (int w = 1; w < 16; w++)
        own = merge(own, warps[w]);
    float rstd = rsqrtf((float)(own.m2 / count) + eps), high = (float)own.mean, low = (float)(own.mean - high);
    int channel = threadIdx.x / hw, place = threadIdx.x % hw, whole = 512 / hw, rest = 512 % hw;
    for (int i = threadIdx.x; i < count; i += 512) {
        int at = blockIdx.x * per + channel;
        y[first + i] = (x[first + i] - high - low) * rstd * gamma[at] + beta[at];
        channel += whole;
        place += rest;
        if (place >= hw) {
            place -= hw;
            channel++;
        }
    }
}

extern "C" void group_norm(float *y, const float *x, const float *gamma, const float *beta, int n, int c, int hw,
                           int groups, float eps, cudaStream_t stream)
{
    group_norm_kernel<<<dim3(groups, n), 512, 0, stream>>>(y, x, gamma, beta, c, hw, groups, eps);
}
