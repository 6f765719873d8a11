extern "C" void safe_softmax(float *x, float *y, int S, int H, cudaStream_t stream)
{
    void (*kernel)(float *, float *, int) = safe_softmax_f32_per_token_kernel<1024>;
    if (H == 32)
        kernel = safe_softmax_f32_per_token_kernel<32>;
    else if (H == 64)
        kernel = safe_softmax_f32_per_token_kernel<64>;
    else if (H == 128)
        kernel = safe_softmax_f32_per_token_kernel<128>;
    else if (H == 256)
        kernel = safe_softmax_f32_per_token_kernel<256>;
    else if (H == 512)
        kernel = safe_softmax_f32_per_token_kernel<512>;
    kernel<<<S, H, 0, stream>>>(x, y, S * H);
}
