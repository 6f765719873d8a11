extern "C" void gather_tree(int *beams, int *max_sequence_lengths, const int *step_ids, const int *parent_ids, const int *end_tokens, int *output_ids, int time, int batch, cudaStream_t stream)
{
    fastertransformer::gatherTreeParam param = {beams, max_sequence_lengths, 0, nullptr, nullptr, time, batch, 1, step_ids, parent_ids, end_tokens, 0, nullptr, nullptr, 0, 0, output_ids, stream};
    fastertransformer::gatherTree<<<1, batch, 0, stream>>>(param);
}
