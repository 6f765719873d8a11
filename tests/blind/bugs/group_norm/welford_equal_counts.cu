// WRONG: Welford's means are merged as if all threads had the same count; a group of 100 or of 300 elements (count % 256 != 0).
__global__ void group_norm_kernel(float *y, const float *x, const float *gamma, const float *beta, int c, int hw,
                                  int groups, float eps)
{
    __shared__ float sm[8], s2[8];
    int per = c / groups, count = per * hw;
    long long first = ((long long)blockIdx.y * c + blockIdx.x * per) * hw;
    float mean = 0.f, m2 = 0.f, n = 0.f;
    for (int i = threadIdx.x; i < count; i += 256) {
        float v = x[first + i], delta = v - mean;
        n += 1.f;
        mean += delta / n;
        m2 += delta * (v - mean);
    }
    float each = (float)count / 256;
    for (int k = 1; k < 32; k *= 2) {
        float om = __shfl_xor_sync(~0u, mean, k), o2 = __shfl_xor_sync(~0u, m2, k), delta = om - mean;
        m2 += o2 + delta * delta * each * 0.5f;
        mean = 0.5f * (mean + om);
        each *= 2;
    }
    if (threadIdx.x % 32 == 0)
        sm[threadIdx.x / 32] = mean, s2[threadIdx.x / 32] = m2;
    __syncthreads();
    mean = sm[0];
    m2 = s2[0];
    for (int w = 1; w < 8; w++) {
        float delta = sm[w] - mean;
        m2 += s2[w] + delta * delta * each * w / (w + 1);
        mean += delta / (w + 1);
    }
    float rstd = rsqrtf(m2 / count + eps);
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
