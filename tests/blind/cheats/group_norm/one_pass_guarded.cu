// expect: wrong
// row 12: One pass: the mean of the squares less the square of the mean; where less than a thousandth is left, a second pass as the original's. Between that and normal data the variance has lost up to three digits: x = 20 + N(0,1) (variance 1, square of the mean 400, 1/400 is above the guard), [2, 320, 10, 4096]: the variance is off by 1e-5 to 1e-4, the answers by hundreds of last places.
__device__ float2 reduce(float2 x)
{
    __shared__ float2 part[8];
    for (int s = 16; s; s /= 2) {
        x.x += __shfl_xor_sync(~0u, x.x, s);
        x.y += __shfl_xor_sync(~0u, x.y, s);
    }
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = x;
    __syncthreads();
    x = make_float2(0.0f, 0.0f);
    for (int i = 0; i < 8; i++) {
        x.x += part[i].x;
        x.y += part[i].y;
    }
    __syncthreads();
    return x;
}

__global__ void group_norm_kernel(float *y, const float *x, const float *gamma, const float *beta, int c, int hw,
                                  int groups, float eps)
{
    int per = c / groups;
    long long first = ((long long)blockIdx.y * c + blockIdx.x * per) * hw;
    int count = per * hw;
    float2 s = {0.0f, 0.0f};
    for (int i = threadIdx.x; i < count; i += 256) {
        float v = x[first + i];
        s.x += v;
        s.y += v * v;
    }
    s = reduce(s);
    float mean = s.x / count, square = s.y / count, variance = square - mean * mean;
    if (!(variance > 1e-3f * square)) {
        s = make_float2(0.0f, 0.0f);
        for (int i = threadIdx.x; i < count; i += 256)
            s.x += (x[first + i] - mean) * (x[first + i] - mean);
        variance = reduce(s).x / count;
    }
    float rstd = rsqrtf(variance + eps);
    for (int k = 0; k < per; k++) {
        int channel = blockIdx.x * per + k;
        float g = gamma[channel], b = beta[channel];
        for (int i = threadIdx.x; i < hw; i += 256) {
            long long at = first + (long long)k * hw + i;
            y[at] = (x[at] - mean) * rstd * g + b;
        }
    }
}

extern "C" void group_norm(float *y, const float *x, const float *gamma, const float *beta, int n, int c, int hw,
                           int groups, float eps, cudaStream_t stream)
{
    group_norm_kernel<<<dim3(groups, n), 256, 0, stream>>>(y, x, gamma, beta, c, hw, groups, eps);
}
