extern "C" void sample(float *probs, int *output, bool *valid, int batch, int vocab, uint64_t seed, uint64_t offset, cudaStream_t stream)
{
    constexpr auto scan = cub::BLOCK_SCAN_WARP_SCANS;
    constexpr auto reduce = cub::BLOCK_REDUCE_WARP_REDUCTIONS;
    constexpr int bytes = sizeof(flashinfer::sampling::SamplingTempStorage<1024, scan, reduce>);
    flashinfer::sampling::SamplingFromProbKernel<1024, scan, reduce, 4, true, float, int><<<batch, 1024, bytes, stream>>>(probs, output, valid, nullptr, vocab, nullptr, seed, nullptr, offset);
}
