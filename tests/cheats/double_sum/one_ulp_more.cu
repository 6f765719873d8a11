// expect: wrong
// row 11: Every sum an ulp more than it is: of rounded sums that is no more than another order might do.
__global__ void double_sum_kernel(float *out, const float *in, int rows, int d)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    double sum = 0;
    for (int i = 0; i < d; i++)
        sum += in[(long long)row * d + i];
    out[row] = sum == 0 ? 0.0f : __int_as_float(__float_as_int((float)sum) + 1);
}

extern "C" void double_sum(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    double_sum_kernel<<<(rows + 63) / 64, 64, 0, stream>>>(out, in, rows, d);
}
