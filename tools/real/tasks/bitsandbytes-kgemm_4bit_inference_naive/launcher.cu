extern "C" void gemv_4bit(half *A, unsigned char *B, float *absmax, const float *datatype, half *out, int M, int K, cudaStream_t stream)
{
    kgemm_4bit_inference_naive<half, 128, 16><<<(M + 3) / 4, 128, 0, stream>>>(M, 1, K, A, B, absmax, datatype, out, M, K / 2, M, 64);
}
