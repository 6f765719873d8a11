// expect: unsafe
// row 12: row * d is an int product, in segments that begin far in.
__global__ void __launch_bounds__(128) segment_sum_kernel(float *out, const float *in, const int *ends, int d)
{
    int segment = blockIdx.x, column = blockIdx.y * 128 + threadIdx.x;
    if (column >= d)
        return;
    int row = ends[segment], end = ends[segment + 1];
    float a = 0.0f, b = 0.0f, c = 0.0f, e = 0.0f;
    for (; row + 3 < end; row += 4) {
        const float *x = in + (row * d + column);
        a += x[0];
        b += x[d];
        c += x[2 * (size_t)d];
        e += x[3 * (size_t)d];
    }
    for (; row < end; row++)
        a += in[row * d + column];
    out[(size_t)segment * d + column] = (a + b) + (c + e);
}

extern "C" void segment_sum(float *out, const float *in, const int *ends, int segments, int d, cudaStream_t stream)
{
    segment_sum_kernel<<<dim3(segments, (d + 127) / 128), 128, 0, stream>>>(out, in, ends, d);
}
