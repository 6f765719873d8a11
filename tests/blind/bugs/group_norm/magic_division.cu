// class: integer range of a division by multiplication ; wrong because: floor(i * (2^32/hw + 1) / 2^32) is i / hw only while i * (m*hw - 2^32) < 2^32; the channel is one too high for the last element of a plane (smallest seen: n=1,c=3,cg=3,hw=65535: element 131069 gets channel 2 for 1)
__global__ void group_norm_kernel(float *y, const float *x, const float *gamma, const float *beta, int c, int hw,
                                  int groups, float eps, unsigned magic)
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
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        int plane = hw == 1 ? i : (int)__umulhi((unsigned)i, magic);
        int channel = min(blockIdx.x * per + plane, c - 1);
        y[first + i] = (x[first + i] - mean) * rstd * __ldg(gamma + channel) + __ldg(beta + channel);
    }
}

extern "C" void group_norm(float *y, const float *x, const float *gamma, const float *beta, int n, int c, int hw,
                           int groups, float eps, cudaStream_t stream)
{
    unsigned magic = hw == 1 ? 0u : (unsigned)(4294967296ull / (unsigned)hw + 1);
    group_norm_kernel<<<dim3(groups, n), 256, 0, stream>>>(y, x, gamma, beta, c, hw, groups, eps, magic);
}
