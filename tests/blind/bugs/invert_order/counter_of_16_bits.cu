// wrong because: Places are counted in 16 bits: in rows of more than 65,024 places a thread's counter wraps, and never ends.
__global__ void __launch_bounds__(512) invert_kernel(int *out, const int *order, int n)
{
    extern __shared__ unsigned short place[];
    const int *from = order + (size_t)blockIdx.x * n;
    int *to = out + (size_t)blockIdx.x * n;
    for (unsigned short i = threadIdx.x; i < n; i += 512)
        place[from[i]] = i;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += 512)
        to[i] = place[i];
}

extern "C" void invert(int *out, const int *order, int rows, int n, cudaStream_t stream)
{
    size_t shared = n * sizeof(unsigned short);
    if (shared > 48 * 1024)
        cudaFuncSetAttribute(invert_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
    invert_kernel<<<rows, 512, shared, stream>>>(out, order, n);
}
