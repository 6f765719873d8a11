// class: round 12 ; wrong because: segments of more than 4096 rows are summed by two halves of the block through shared memory, with one barrier too few between columns.
__global__ void segment_sum_kernel(float *out, const float *in, const int *ends, int d)
{
    __shared__ float half[128];
    int segment = blockIdx.x, first = ends[segment], last = ends[segment + 1];
    if (last - first <= 4096) {
        for (int column = threadIdx.x; column < d; column += 256) {
            float sum = 0.0f;
            for (int row = first; row < last; row++)
                sum += in[(size_t)row * d + column];
            out[(size_t)segment * d + column] = sum;
        }
        return;
    }
    int side = threadIdx.x / 128, lane = threadIdx.x % 128, middle = (first + last) / 2;
    for (int base = 0; base < d; base += 128) {
        int column = base + lane;
        float sum = 0.0f;
        if (column < d)
            for (int row = side ? middle : first; row < (side ? last : middle); row++)
                sum += in[(size_t)row * d + column];
        if (side)
            half[lane] = sum;
        __syncthreads();
        if (!side && column < d)
            out[(size_t)segment * d + column] = sum + half[lane];
    }
}

extern "C" void segment_sum(float *out, const float *in, const int *ends, int segments, int d, cudaStream_t stream)
{
    segment_sum_kernel<<<segments, 256, 0, stream>>>(out, in, ends, d);
}
