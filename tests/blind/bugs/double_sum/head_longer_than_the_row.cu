// expect: wrong
// row 14: Elements in front of the first whole vector are added by themselves; that there may be more of them than the row has is forgotten. d = 1, rows = 5: row 1 begins one element behind a vector, its head are three elements, rows 1, 2 and 3 (d = 2, 3 happen to fit). in = 1, 2, 3, 4, 5: out[1] = 9 instead of 2.
__global__ void double_sum_kernel(float *out, const float *in, int rows, int d)
{
    int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    const float *x = in + (long long)row * d;
    int head = (4 - (int)((unsigned long long)x / 4 % 4)) % 4;
    double sum = 0;
    if (lane < head)
        sum += x[lane];
    int vectors = (d - head) / 4;
    const float4 *v = (const float4 *)(x + head);
    for (int i = lane; i < vectors; i += 32) {
        float4 f = v[i];
        sum += ((double)f.x + f.y) + ((double)f.z + f.w);
    }
    for (int i = head + vectors * 4 + lane; i < d; i += 32)
        sum += x[i];
    for (int s = 16; s; s /= 2)
        sum += __shfl_down_sync(~0u, sum, s);
    if (lane == 0)
        out[row] = (float)sum;
}

extern "C" void double_sum(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    double_sum_kernel<<<(rows + 3) / 4, 128, 0, stream>>>(out, in, rows, d);
}
