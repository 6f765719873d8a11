extern "C" void penalty(half *logits, int min_length, const int *end_ids, const int *sequence_lengths, int max_input_length, int batch, int beam_width, int vocab_padded, cudaStream_t stream)
{
    const int block = min(batch * beam_width, 1024);
    const int grid = (batch * beam_width + block - 1) / block;
    apply_min_length_penalty<half><<<grid, block, 0, stream>>>(logits, min_length, end_ids, sequence_lengths, max_input_length, beam_width, vocab_padded);
}
