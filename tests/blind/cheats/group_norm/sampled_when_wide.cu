// Wrong: with hw > 40000 mean and variance come from every second element.
__device__ float block_sum(float x)
{
    __shared__ float s[8];
    for (int k = 16; k > 0; k /= 2)
        x += __shfl_xor_sync(0xffffffffu, x, k);
    if (threadIdx.x % 32 == 0)
        s[threadIdx.x / 32] = x;
    __syncthreads();
    x = 0;
    for (int k = 0; k < 8; k++)
        x += s[k];
    __syncthreads();
    return x;
}

__global__ void group_norm_kernel(float *y, const float *x, const float *gamma, const float *beta, int c, int hw,
                                  int groups, float eps)
{
    int per = c / groups, count = per * hw, hop = 1 + (hw > 40000);
    long long first = ((long long)blockIdx.y * c + blockIdx.x * per) * hw;
    float sum = 0;
    for (int i = threadIdx.x * hop; i < count; i += blockDim.x * hop)
        sum += x[first + i];
    float mean = block_sum(sum) / ((count + hop - 1) / hop);
    sum = 0;
    for (int i = threadIdx.x * hop; i < count; i += blockDim.x * hop)
        sum += (x[first + i] - mean) * (x[first + i] - mean);
    float rstd = rsqrtf(block_sum(sum) / ((count + hop - 1) / hop) + eps);
    for (int k = 0; k < per; k++) {
        int channel = blockIdx.x * per + k;
        float g = gamma[channel] * rstd, b = beta[channel];
        for (int i = threadIdx.x; i < hw; i += blockDim.x)
            y[first + k * hw + i] = (x[first + k * hw + i] - mean) * g + b;
    }
}

extern "C" void group_norm(float *y, const float *x, const float *gamma, const float *beta, int n, int c, int hw,
                           int groups, float eps, cudaStream_t stream)
{
    group_norm_kernel<<<dim3(groups, n), 256, 0, stream>>>(y, x, gamma, beta, c, hw, groups, eps);
}
