// class: precision lost for rare values ; wrong because: one pass with the group's first element as the shift; where that element is the outlier, E[(x-s)^2] - E[x-s]^2 cancels (smallest seen: n=1,c=1,cg=1,hw=4096, x[0]=1e6, others 0,1,0,1...: variance off by 1e-4 relative, hundreds of ulps of y)
__global__ void group_norm_kernel(float *y, const float *x, const float *gamma, const float *beta, int c, int hw,
                                  int groups, float eps)
{
    __shared__ float s[256], q[256];
    int per = c / groups;
    long long first = ((long long)blockIdx.y * c + blockIdx.x * per) * hw;
    int count = per * hw;
    float shift = x[first], sum = 0, squares = 0;
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        float v = x[first + i] - shift;
        sum += v;
        squares += v * v;
    }
    s[threadIdx.x] = sum;
    q[threadIdx.x] = squares;
    __syncthreads();
    for (int k = 128; k > 0; k >>= 1) {
        if (threadIdx.x < k) {
            s[threadIdx.x] += s[threadIdx.x + k];
            q[threadIdx.x] += q[threadIdx.x + k];
        }
        __syncthreads();
    }
    float off = s[0] / count;
    float variance = fmaxf(q[0] / count - off * off, 0.0f);
    float rstd = rsqrtf(variance + eps);
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        int channel = blockIdx.x * per + i / hw;
        y[first + i] = (x[first + i] - shift - off) * rstd * gamma[channel] + beta[channel];
    }
}

extern "C" void group_norm(float *y, const float *x, const float *gamma, const float *beta, int n, int c, int hw,
                           int groups, float eps, cudaStream_t stream)
{
    group_norm_kernel<<<dim3(groups, n), 256, 0, stream>>>(y, x, gamma, beta, c, hw, groups, eps);
}
