extern "C" void layer_norm(float *x, float *y, float g, float b, int N, int K, cudaStream_t stream)
{
    void (*kernel)(float *, float *, float, float, int, int) = layer_norm_f32_kernel<1024>;
    if (K == 32)
        kernel = layer_norm_f32_kernel<32>;
    else if (K == 64)
        kernel = layer_norm_f32_kernel<64>;
    else if (K == 128)
        kernel = layer_norm_f32_kernel<128>;
    else if (K == 256)
        kernel = layer_norm_f32_kernel<256>;
    else if (K == 512)
        kernel = layer_norm_f32_kernel<512>;
    kernel<<<N, K, 0, stream>>>(x, y, g, b, N, K);
}
