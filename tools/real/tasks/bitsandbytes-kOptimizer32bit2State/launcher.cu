extern "C" void adam(half *g, half *p, float *state1, float *state2, float beta1, float beta2, float eps, float weight_decay, int step, float lr, float gnorm_scale, bool skip_zeros, int n, cudaStream_t stream)
{
    const int blocks = n / 4096 + (n % 4096 != 0);
    kOptimizer32bit2State<half, ADAM><<<blocks, 1024, 0, stream>>>(g, p, state1, state2, nullptr, 0.0f, 0.0f, beta1, beta2, 0.0f, 0.0f, eps, weight_decay, step, lr, gnorm_scale, skip_zeros, n);
}
