// expect: wrong
// row 12: The channel of an element by a reciprocal in float: a wrong one at the ends of rows behind eight million elements.
__global__ void group_norm_kernel(float *y, const float *x, const float *gamma, const float *beta, int c, int hw,
                                  int groups, float eps)
{
    __shared__ float s[256];
    int per = c / groups;
    long long first = ((long long)blockIdx.y * c + blockIdx.x * per) * hw;
    int count = per * hw;
    float sum = 0;
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        sum += x[first + i];
    s[threadIdx.x] = sum;
    __syncthreads();
    for (int k = 128; k > 0; k >>= 1) {
        if (threadIdx.x < k)
            s[threadIdx.x] += s[threadIdx.x + k];
        __syncthreads();
    }
    float mean = s[0] / count;
    __syncthreads();
    sum = 0;
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        sum += (x[first + i] - mean) * (x[first + i] - mean);
    s[threadIdx.x] = sum;
    __syncthreads();
    for (int k = 128; k > 0; k >>= 1) {
        if (threadIdx.x < k)
            s[threadIdx.x] += s[threadIdx.x + k];
        __syncthreads();
    }
    float rstd = rsqrtf(s[0] / count + eps);
    float inverse = 1.0f / hw;
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        int channel = blockIdx.x * per + min(per - 1, (int)((i + 0.5f) * inverse));
        y[first + i] = (x[first + i] - mean) * rstd * gamma[channel] + beta[channel];
    }
}

extern "C" void group_norm(float *y, const float *x, const float *gamma, const float *beta, int n, int c, int hw,
                           int groups, float eps, cudaStream_t stream)
{
    group_norm_kernel<<<dim3(groups, n), 256, 0, stream>>>(y, x, gamma, beta, c, hw, groups, eps);
}
