// Right: parts of the rows into a workspace, then one thread a column adds them to what is there; no atomics.
#include <cstdint>

__global__ void parts_kernel(float *part, const float *x, int rows, int d, int each)
{
    int64_t first = (int64_t)blockIdx.x * each, end = first + each < rows ? first + each : rows;
    for (int c = threadIdx.x; c < d; c += blockDim.x) {
        float sum = 0;
        for (int64_t r = first; r < end; r++)
            sum += x[r * d + c];
        part[(int64_t)blockIdx.x * d + c] = sum;
    }
}

__global__ void add_kernel(float *sums, const float *part, int n, int d)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= d)
        return;
    float sum = 0, rest = 0;
    for (int k = 0; k < n; k++) {
        float y = part[(int64_t)k * d + c] - rest, t = sum + y;
        rest = (t - sum) - y;
        sum = t;
    }
    sums[c] += sum;
}

extern "C" void column_sums(float *sums, const float *x, int rows, int d, cudaStream_t stream)
{
    int each = rows / 264 + 1, n = (int)(((int64_t)rows + each - 1) / each);
    float *part;
    if (cudaMallocAsync((void **)&part, (size_t)n * d * sizeof *part, stream))
        return;
    parts_kernel<<<n, d < 256 ? (d + 31) / 32 * 32 : 256, 0, stream>>>(part, x, rows, d, each);
    add_kernel<<<(d + 127) / 128, 128, 0, stream>>>(sums, part, n, d);
    cudaFreeAsync(part, stream);
}
