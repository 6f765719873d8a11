// expect: wrong
// row 6: With 64 columns and more a segment ends after 16,384 rows.
__global__ void __launch_bounds__(256) segment_sum_kernel(float *out, const float *in, const int *ends, int d, int most)
{
    __shared__ float s[8][33];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, column = blockIdx.y * 32 + lane;
    int from = ends[blockIdx.x], to = min(ends[blockIdx.x + 1], from + most);
    float sum = 0.0f;
    if (column < d)
        for (int row = from + warp; row < to; row += 8)
            sum += in[(size_t)row * d + column];
    s[warp][lane] = sum;
    __syncthreads();
    if (warp == 0 && column < d) {
        for (int w = 1; w < 8; w++)
            sum += s[w][lane];
        out[(size_t)blockIdx.x * d + column] = sum;
    }
}

extern "C" void segment_sum(float *out, const float *in, const int *ends, int segments, int d, cudaStream_t stream)
{
    int most = 65536 >> ((d + 65535 - 63) / 65536 * 2);
    segment_sum_kernel<<<dim3(segments, (d + 31) / 32), 256, 0, stream>>>(out, in, ends, d, most);
}
