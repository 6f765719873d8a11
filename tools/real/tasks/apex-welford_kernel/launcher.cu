extern "C" void welford(const __half *input, float *out_mean, float *out_var_biased, int batch, int features, int space, cudaStream_t stream)
{
    int block_x = 1, block_y = 1;
    while (block_y < 16 && 2 * block_y <= batch)
        block_y *= 2;
    while (2 * block_x <= 512 / block_y && 2 * block_x <= space)
        block_x *= 2;
    welford_kernel<__half, float, float><<<features, dim3(block_x, block_y), 0, stream>>>(input, out_mean, out_var_biased, batch, features, space);
}
