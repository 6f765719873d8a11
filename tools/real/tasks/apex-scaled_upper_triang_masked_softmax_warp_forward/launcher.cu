extern "C" void causal_softmax(__half *dst, const __half *src, float scale, int seq, int batches, cudaStream_t stream)
{
    const dim3 block(32, 4), grid(seq, batches / (seq <= 128 ? 8 : 4));
    if (seq <= 32)
        scaled_upper_triang_masked_softmax_warp_forward<__half, __half, float, 5><<<grid, block, 0, stream>>>(dst, src, scale, batches * seq, seq, seq);
    else if (seq <= 64)
        scaled_upper_triang_masked_softmax_warp_forward<__half, __half, float, 6><<<grid, block, 0, stream>>>(dst, src, scale, batches * seq, seq, seq);
    else if (seq <= 128)
        scaled_upper_triang_masked_softmax_warp_forward<__half, __half, float, 7><<<grid, block, 0, stream>>>(dst, src, scale, batches * seq, seq, seq);
    else if (seq <= 256)
        scaled_upper_triang_masked_softmax_warp_forward<__half, __half, float, 8><<<grid, block, 0, stream>>>(dst, src, scale, batches * seq, seq, seq);
    else if (seq <= 512)
        scaled_upper_triang_masked_softmax_warp_forward<__half, __half, float, 9><<<grid, block, 0, stream>>>(dst, src, scale, batches * seq, seq, seq);
    else if (seq <= 1024)
        scaled_upper_triang_masked_softmax_warp_forward<__half, __half, float, 10><<<grid, block, 0, stream>>>(dst, src, scale, batches * seq, seq, seq);
    else
        scaled_upper_triang_masked_softmax_warp_forward<__half, __half, float, 11><<<grid, block, 0, stream>>>(dst, src, scale, batches * seq, seq, seq);
}
