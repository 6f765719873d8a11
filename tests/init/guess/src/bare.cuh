// It names nothing that it needs: whoever includes it has it.
template <typename T> __global__ void halve_groups(const T *x, T *out, int k)
{
    const int i = blockIdx.x * GROUP + threadIdx.x;
    if (i < k)
        out[i] = x[i] * 0.5f;
}

template <typename T> void run_halve_groups(const T *x, T *out, int k, cudaStream_t stream)
{
    halve_groups<T><<<(k + GROUP - 1) / GROUP, GROUP, 0, stream>>>(x, out, k);
}
