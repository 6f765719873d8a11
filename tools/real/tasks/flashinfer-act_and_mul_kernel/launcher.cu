__device__ __forceinline__ float silu(const float &x) { return x / (1.0f + __expf(-x)); }

extern "C" void silu_and_mul(__half *out, const __half *input, int tokens, int d, cudaStream_t stream)
{
    const int block = min(d / 8, 1024);
    flashinfer::activation::act_and_mul_kernel<__half, silu><<<tokens, block, 0, stream>>>(out, input, d);
}
