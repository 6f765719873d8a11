// expect: unsafe
// row 15: The block has as many threads as the row has elements, 256 at most; the last warp's shuffles name lanes that do not exist, whose values are undefined: n = 100, the last warp has 4 lanes and adds what lanes 4 to 31 do not have.
__global__ void long_sum_kernel(float *out, const float *in, int n)
{
    __shared__ float part[8];
    const float *x = in + (long long)blockIdx.x * n;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        sum += x[i];
    for (int s = 16; s; s /= 2)
        sum += __shfl_down_sync(~0u, sum, s);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < (blockDim.x + 31) / 32; i++)
            sum += part[i];
        out[blockIdx.x] = sum;
    }
}

extern "C" void long_sum(float *out, const float *in, int rows, int n, cudaStream_t stream)
{
    long_sum_kernel<<<rows, n < 256 ? n : 256, 0, stream>>>(out, in, n);
}
