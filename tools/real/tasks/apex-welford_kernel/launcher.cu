extern "C" void welford(const __half *input, float *out_mean, float *out_var_biased, int batch, int features, int space, cudaStream_t stream)
{
    const int block_y = min(h_last_pow2(batch), 16);
    const int block_x = max(1, min(512 / block_y, h_last_pow2(space)));
    welford_kernel<__half, float, float><<<features, dim3(block_x, block_y), 0, stream>>>(input, out_mean, out_var_biased, batch, features, space);
}
