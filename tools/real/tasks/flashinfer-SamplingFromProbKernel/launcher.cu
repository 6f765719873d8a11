extern "C" void sample(float *probs, int *output, bool *valid, int batch, int vocab, uint64_t seed, uint64_t offset, cudaStream_t stream)
{
    flashinfer::sampling::SamplingFromProbKernel<1024, cub::BLOCK_SCAN_WARP_SCANS, cub::BLOCK_REDUCE_WARP_REDUCTIONS, 4, true, float, int><<<batch, 1024, 8192, stream>>>(probs, output, valid, nullptr, vocab, nullptr, seed, nullptr, offset);
}
