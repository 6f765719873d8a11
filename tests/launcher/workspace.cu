// Workspace from the stream's pool, used by two kernels, given back.
__global__ void partial(float *sums, const float *in, int n)
{
}
__global__ void total(float *out, const float *sums, int blocks)
{
}

extern "C" void go(float *out, const float *in, int n, cudaStream_t stream)
{
    int blocks = (n + 255) / 256;
    float *sums = nullptr;
    void *flags;
    cudaError_t status = cudaMallocAsync(&sums, blocks * sizeof(float), stream);
    if (status != cudaSuccess)
        return;
    cudaMallocAsync((void **)&flags, 4, stream);
    cudaMemsetAsync(flags, 0xff, 4, stream);
    partial<<<blocks, 256, 0, stream>>>(sums, in, n);
    total<<<1, 256, 0, stream>>>(out, sums + 1, blocks);
    cudaMemcpyAsync(out + 1, sums, sizeof(float), cudaMemcpyDeviceToDevice, stream);
    cudaFreeAsync(sums, stream);
    cudaFreeAsync(flags, stream);
}

// run: n=1000
// workspace 16
// workspace 4
// memset ws1 255 4
// launch partial (4,1,1) (256,1,1) 0 [ws0, in, 1000:i32]
// launch total (1,1,1) (256,1,1) 0 [out, ws0+4, 4:i32]
// copy out+4 ws0 4
