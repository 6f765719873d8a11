extern "C" void seq_chunk_cumsum(const int *seq_idx, const int *chunk_indices, const int *chunk_offsets, int *output, int chunk_size, int chunks, int num_seqs, cudaStream_t stream)
{
    const int threads = (num_seqs + 1 + 31) / 32 * 32;
    SeqChunkCumsumKernel<int><<<1, threads, 0, stream>>>(seq_idx, chunk_indices, chunk_offsets, output, chunk_size, chunks, num_seqs);
}
