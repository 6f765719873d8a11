// The sum of each row, what rounding loses carried along (Kahan): rows whose terms cancel keep their digits.
__global__ void compensated_sum_kernel(float *out, const float *in, int rows, int d)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0.0f, lost = 0.0f;
    for (int i = 0; i < d; i++) {
        float term = in[(long long)row * d + i] - lost;
        float next = sum + term;
        lost = (next - sum) - term;
        sum = next;
    }
    out[row] = sum;
}

extern "C" void compensated_sum(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    compensated_sum_kernel<<<(rows + 63) / 64, 64, 0, stream>>>(out, in, rows, d);
}
