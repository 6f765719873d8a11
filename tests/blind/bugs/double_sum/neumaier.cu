// class: precision lost for rare values ; wrong because: a compensated sum in float has no 53 bits: the compensation rounds too (smallest: d=5, {2^50, 2^26, 1, -2^50, -2^26}: right 1, given 0)
__device__ void add(float &sum, float &lost, float x)
{
    float t = sum + x;
    lost += fabsf(sum) >= fabsf(x) ? (sum - t) + x : (x - t) + sum;
    sum = t;
}

// Doubles are slow on a consumer GPU: Neumaier's sum keeps the digits.
__global__ void double_sum_kernel(float *out, const float *in, int rows, int d)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0.0f, lost = 0.0f;
    for (int i = 0; i < d; i++)
        add(sum, lost, in[(long long)row * d + i]);
    out[row] = sum + lost;
}

extern "C" void double_sum(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    double_sum_kernel<<<(rows + 31) / 32, 32, 0, stream>>>(out, in, rows, d);
}
