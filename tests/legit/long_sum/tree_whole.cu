// expect: correct
// A block a row, and a tree: of long rows the sum is far more accurate than the original's.
__global__ void long_sum_kernel(float *out, const float *in, int n)
{
    __shared__ float s[256];
    const float *x = in + (long long)blockIdx.x * n;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += 256)
        sum += x[i];
    s[threadIdx.x] = sum;
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (threadIdx.x < step)
            s[threadIdx.x] += s[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = s[0];
}

extern "C" void long_sum(float *out, const float *in, int rows, int n, cudaStream_t stream)
{
    long_sum_kernel<<<rows, 256, 0, stream>>>(out, in, n);
}
