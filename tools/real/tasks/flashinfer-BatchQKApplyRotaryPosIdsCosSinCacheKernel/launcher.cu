extern "C" void rotary(__half *q, __half *k, __half *q_rope, __half *k_rope, float *cos_sin_cache, int *pos_ids, int nnz, int q_heads, int kv_heads, cudaStream_t stream)
{
    const dim3 block(16, 8);
    flashinfer::BatchQKApplyRotaryPosIdsCosSinCacheKernel<false, 128, 8, 16, __half, int><<<(nnz + 7) / 8, block, 0, stream>>>(q, k, q_rope, k_rope, cos_sin_cache, pos_ids, nnz, q_heads, kv_heads, 128, q_heads * 128, 128, kv_heads * 128, 128, q_heads * 128, 128, kv_heads * 128, 128);
}
