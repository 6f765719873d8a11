extern "C" void softmax(float *attn_score, const float *qk, const float *attn_mask, const float *linear_bias_slopes, int batch, int heads, int q_length, int k_length, float qk_scale, cudaStream_t stream)
{
    const dim3 grid(q_length, batch, heads);
    const int block = (k_length + 31) / 32 * 32;
    fastertransformer::softmax_kernel<float, float, 1><<<grid, block, 0, stream>>>(attn_score, qk, attn_mask, linear_bias_slopes, batch, heads, q_length, k_length, qk_scale);
}
