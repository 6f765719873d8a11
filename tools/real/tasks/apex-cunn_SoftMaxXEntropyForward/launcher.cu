extern "C" void softmax_xentropy(float *losses, float *max_log_sum_exp, float *input, int64_t *labels, int rows, int classes, float smoothing, cudaStream_t stream)
{
    const int most = min(classes / 4, 1024);
    int block = 1;
    while (block < most / 2)
        block *= 2;
    block = max(block, 32);
    cunn_SoftMaxXEntropyForward<4, float, float, float, LogSoftMaxForwardEpilogue><<<rows, block, 2 * block * sizeof(float), stream>>>(losses, max_log_sum_exp, input, labels, classes, smoothing);
}
