extern "C" void conv1d_update(__half *x, __half *conv_state, __half *weight, __half *bias, __half *out, int batch, int dim, int state_len, cudaStream_t stream)
{
    ConvParamsBase params = {};
    params.batch = batch;
    params.dim = dim;
    params.seqlen = 1;
    params.width = 4;
    params.silu_activation = true;
    params.x_batch_stride = dim;
    params.x_c_stride = 1;
    params.x_l_stride = dim;
    params.weight_c_stride = 4;
    params.weight_width_stride = 1;
    params.out_batch_stride = dim;
    params.out_c_stride = 1;
    params.out_l_stride = dim;
    params.conv_state_len = state_len;
    params.conv_state_batch_stride = dim * state_len;
    params.conv_state_c_stride = state_len;
    params.conv_state_l_stride = 1;
    params.x_ptr = x;
    params.weight_ptr = weight;
    params.bias_ptr = bias;
    params.out_ptr = out;
    params.conv_state_ptr = conv_state;
    using traits = Causal_conv1d_update_kernel_traits<64, 4, __half, __half>;
    causal_conv1d_update_kernel<traits, false><<<dim3(batch, (dim + 63) / 64), 64, 0, stream>>>(params);
}
