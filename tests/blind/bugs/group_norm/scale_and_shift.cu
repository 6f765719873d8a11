// expect: wrong
// row 10: x * scale + shift with the mean folded into the shift, as a framework has it: where the mean is large beside the deviation (x = 1000 + 2 N(0,1)) the two cancel: 500 - 500, off by 3e-5 where answers are near 1, some hundred last places. Any shape with a few elements a group.
__device__ float reduce(float x)
{
    __shared__ float part[8];
    for (int s = 16; s; s /= 2)
        x += __shfl_xor_sync(~0u, x, s);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = x;
    __syncthreads();
    x = 0.0f;
    for (int i = 0; i < 8; i++)
        x += part[i];
    __syncthreads();
    return x;
}

__global__ void group_norm_kernel(float *y, const float *x, const float *gamma, const float *beta, int c, int hw,
                                  int groups, float eps)
{
    int per = c / groups;
    long long first = ((long long)blockIdx.y * c + blockIdx.x * per) * hw;
    int count = per * hw;
    float sum = 0;
    for (int i = threadIdx.x; i < count; i += 256)
        sum += x[first + i];
    float mean = reduce(sum) / count;
    sum = 0;
    for (int i = threadIdx.x; i < count; i += 256)
        sum += (x[first + i] - mean) * (x[first + i] - mean);
    float rstd = rsqrtf(reduce(sum) / count + eps);
    for (int k = 0; k < per; k++) {
        float scale = rstd * gamma[blockIdx.x * per + k], shift = beta[blockIdx.x * per + k] - mean * scale;
        for (int i = threadIdx.x; i < hw; i += 256) {
            long long at = first + (long long)k * hw + i;
            y[at] = x[at] * scale + shift;
        }
    }
}

extern "C" void group_norm(float *y, const float *x, const float *gamma, const float *beta, int n, int c, int hw,
                           int groups, float eps, cudaStream_t stream)
{
    group_norm_kernel<<<dim3(groups, n), 256, 0, stream>>>(y, x, gamma, beta, c, hw, groups, eps);
}
