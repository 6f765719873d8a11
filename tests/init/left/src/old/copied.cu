// The kernel as it was before.
__global__ void third_of(const float *x, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] * 0.333f;
}

void run_third_of(const float *x, float *y, int n, cudaStream_t stream)
{
    third_of<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}
