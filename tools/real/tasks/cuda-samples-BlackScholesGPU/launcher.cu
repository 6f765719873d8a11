extern "C" void black_scholes(float *call, float *put, float *price, float *strike, float *years, float riskfree, float volatility, int n, cudaStream_t stream)
{
    const int blocks = (n / 2 + 127) / 128;
    BlackScholesGPU<<<blocks, 128, 0, stream>>>((float2 *)call, (float2 *)put, (float2 *)price, (float2 *)strike, (float2 *)years, riskfree, volatility, n);
}
