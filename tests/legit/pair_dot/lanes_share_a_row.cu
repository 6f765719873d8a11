// expect: correct
// Sixteen lanes share a row. Of products beyond the type some of their sums are inf and others -inf, which together are NaN,
// where the original's sum in turn is inf of one sign. Neither is an answer.
__global__ void dots(float *out, const float *x, const int *left, const int *right, int pairs, int d)
{
    const int lane = threadIdx.x % 16, i = (blockIdx.x * 128 + threadIdx.x) / 16;
    const unsigned lanes = 0xffffu << threadIdx.x % 32 / 16 * 16;
    if (i >= pairs)
        return;
    const float *a = x + (size_t)left[i] * d, *b = x + (size_t)right[i] * d;
    float sum = 0.0f;
    for (int k = lane; k < d; k += 16)
        sum += a[k] * b[k];
    for (int by = 8; by > 0; by /= 2)
        sum += __shfl_xor_sync(lanes, sum, by, 16);
    if (lane == 0)
        out[i] = sum;
}

extern "C" void pair_dot(float *out, const float *x, const int *left, const int *right, int pairs, int d, cudaStream_t stream)
{
    dots<<<(pairs + 7) / 8, 128, 0, stream>>>(out, x, left, right, pairs, d);
}
