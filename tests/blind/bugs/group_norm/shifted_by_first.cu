// class: round 12 ; wrong because: sums are shifted by the first element only: where that one is far off the others, the variance cancels.
__global__ void group_norm_kernel(float *y, const float *x, const float *gamma, const float *beta, int c, int hw,
                                  int groups, float eps)
{
    __shared__ float s[2][8];
    int per = c / groups;
    long long first = ((long long)blockIdx.y * c + blockIdx.x * per) * hw;
    int count = per * hw;
    float a = 0, b = 0, shift = x[first];
    for (int i = threadIdx.x; i < count; i += 256) {
        float v = x[first + i] - shift;
        a += v;
        b += v * v;
    }
    for (int o = 16; o; o /= 2) {
        a += __shfl_xor_sync(0xffffffffu, a, o);
        b += __shfl_xor_sync(0xffffffffu, b, o);
    }
    if (threadIdx.x % 32 == 0) {
        s[0][threadIdx.x / 32] = a;
        s[1][threadIdx.x / 32] = b;
    }
    __syncthreads();
    a = b = 0;
    for (int w = 0; w < 8; w++) {
        a += s[0][w];
        b += s[1][w];
    }
    float mean = a / count, var = fmaxf(b / count - mean * mean, 0.0f), rstd = rsqrtf(var + eps);
    mean += shift;
    for (int i = threadIdx.x; i < count; i += 256) {
        int channel = blockIdx.x * per + i / hw;
        y[first + i] = (x[first + i] - mean) * rstd * gamma[channel] + beta[channel];
    }
}

extern "C" void group_norm(float *y, const float *x, const float *gamma, const float *beta, int n, int c, int hw,
                           int groups, float eps, cudaStream_t stream)
{
    group_norm_kernel<<<dim3(groups, n), 256, 0, stream>>>(y, x, gamma, beta, c, hw, groups, eps);
}
