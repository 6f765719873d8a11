// Mean and sum of squares about it as each thread goes; joined pair by pair.
struct moments {
    float n, mean, squares;
};

__device__ moments join(moments a, moments b)
{
    float n = a.n + b.n;
    if (n == 0)
        return a;
    float apart = b.mean - a.mean, share = b.n / n;
    return {n, a.mean + apart * share, a.squares + b.squares + apart * apart * a.n * share};
}

__global__ void group_norm_kernel(float *y, const float *x, const float *gamma, const float *beta, int c, int hw,
                                  int groups, float eps)
{
    __shared__ moments s[256];
    const int per = c / groups;
    const long long first = ((long long)blockIdx.y * c + blockIdx.x * per) * hw, count = (long long)per * hw;
    moments own = {0, 0, 0};
    for (long long i = threadIdx.x; i < count; i += blockDim.x) {
        float v = x[first + i], apart = v - own.mean;
        own.n += 1;
        own.mean += apart / own.n;
        own.squares += apart * (v - own.mean);
    }
    s[threadIdx.x] = own;
    __syncthreads();
    for (int k = 128; k > 0; k >>= 1) {
        if (threadIdx.x < k)
            s[threadIdx.x] = join(s[threadIdx.x], s[threadIdx.x + k]);
        __syncthreads();
    }
    const float mean = s[0].mean, rstd = rsqrtf(s[0].squares / (float)count + eps);
    for (int k = 0; k < per; k++) {
        const float scale = gamma[blockIdx.x * per + k] * rstd, shift = beta[blockIdx.x * per + k];
        for (int i = threadIdx.x; i < hw; i += blockDim.x) {
            const long long at = first + (long long)k * hw + i;
            y[at] = (x[at] - mean) * scale + shift;
        }
    }
}

extern "C" void group_norm(float *y, const float *x, const float *gamma, const float *beta, int n, int c, int hw,
                           int groups, float eps, cudaStream_t stream)
{
    group_norm_kernel<<<dim3(groups, n), 256, 0, stream>>>(y, x, gamma, beta, c, hw, groups, eps);
}
