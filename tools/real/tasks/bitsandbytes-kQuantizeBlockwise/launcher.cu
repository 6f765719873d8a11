extern "C" void quantize(float *code, half *A, float *absmax, unsigned char *out, int n, cudaStream_t stream)
{
    const int blocks = n / 4096 + (n % 4096 != 0);
    kQuantizeBlockwise<half, 4096, 4, 0, General8bit><<<blocks, 1024, 0, stream>>>(code, A, absmax, out, nullptr, 0, n);
}
