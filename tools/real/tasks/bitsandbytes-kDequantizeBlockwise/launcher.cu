extern "C" void dequantize(unsigned char *A, float *absmax, half *out, int blocksize, int n, cudaStream_t stream)
{
    kDequantizeBlockwise<half, 512, 64, 8, FP4><<<(n + 1023) / 1024, 64, 0, stream>>>(nullptr, A, absmax, out, blocksize / 2, n);
}
