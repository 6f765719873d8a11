// The sum of each row, in double: rows whose terms cancel keep their digits.
__global__ void double_sum_kernel(float *out, const float *in, int rows, int d)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    double sum = 0;
    for (int i = 0; i < d; i++)
        sum += in[(long long)row * d + i];
    out[row] = (float)sum;
}

extern "C" void double_sum(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    double_sum_kernel<<<(rows + 63) / 64, 64, 0, stream>>>(out, in, rows, d);
}
