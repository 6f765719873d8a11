// expect: wrong words error of out
// row 10: Sums in float what the original sums in double; it shows where terms cancel.
__global__ void plain(float *out, const float *in, int d)
{
    float sum = 0.0f;
    for (int i = threadIdx.x; i < d; i += 32)
        sum += in[(long long)blockIdx.x * d + i];
    for (int step = 16; step; step /= 2)
        sum += __shfl_xor_sync(~0u, sum, step);
    if (threadIdx.x == 0)
        out[blockIdx.x] = sum;
}

extern "C" void double_sum(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    plain<<<rows, 32, 0, stream>>>(out, in, d);
}
