__global__ void invert_kernel(int *out, const int *order, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    size_t row = (size_t)blockIdx.y * n;
    if (i < n)
        out[row + order[row + i]] = i;
}

extern "C" void invert(int *out, const int *order, int rows, int n, cudaStream_t stream)
{
    invert_kernel<<<dim3((n + 255) / 256, rows), 256, 0, stream>>>(out, order, n);
}
