extern "C" void adam_8bit(half *p, half *g, unsigned char *state1, unsigned char *state2, float beta1, float beta2, float eps, int step, float lr, float *quantiles1, float *quantiles2, float *absmax1, float *absmax2, float weight_decay, float gnorm_scale, bool skip_zeros, int n, cudaStream_t stream)
{
    const int blocks = n / 256 + (n % 256 != 0);
    kOptimizerStatic8bit2StateBlockwise<half, ADAM, 256, 1><<<blocks, 256, 0, stream>>>(p, g, state1, state2, beta1, beta2, 0.0f, 0.0f, eps, step, lr, quantiles1, quantiles2, absmax1, absmax2, weight_decay, gnorm_scale, skip_zeros, n);
}
