extern "C" void cross_entropy(const __half *inputs, const int *targets, float *loss, float *nll_loss, int padding_idx, float epsilon, int rows, int vocab, cudaStream_t stream)
{
    ls_cross_entropy_fw_kernel<<<rows, 1024, 0, stream>>>(inputs, targets, loss, nll_loss, padding_idx, epsilon, vocab);
}
