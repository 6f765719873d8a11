extern "C" void batchnorm(const __half *input, const float *mean, const float *inv_std, const float *weight, const float *shift, __half *out, int space, int batch, int features, cudaStream_t stream)
{
    const int block_x = max(32, min(512, h_last_pow2(space) / 4));
    const int block_y = max(1, min(512 / block_x, h_last_pow2(batch) / 4));
    const int grid_z = max(1, min(65535, h_last_pow2(space) / 4 / block_x));
    const int groups = max(1, min(65535, h_last_pow2(batch) / block_y));
    batchnorm_forward_kernel<__half, float, float><<<dim3(features, groups, grid_z), dim3(block_x, block_y), 0, stream>>>(input, mean, inv_std, weight, shift, out, space, batch);
}
