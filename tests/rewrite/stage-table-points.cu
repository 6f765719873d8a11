// Each thread holds its own point against all codes of its batch: a block moves them through shared memory, so many at a time.
// transform: stage-table 4
// applies: line 18
// has: __shared__ alignas(16) float codes_table[1024];
// has: int i = inside ? blockIdx.x * blockDim.x + threadIdx.x : n - 1, batch = blockIdx.y;
// has: codes_table[at] = codes[(long long)4 * blockIdx.y * m + (long long)from * 4 + at];
// has: float x = points[i] - codes_table[(c - from) * 4 + 1], y = codes_table[(c - from) * 4 + k];
// has: if (!inside)
#include <cstdint>

__global__ void nearest(int *out, const float *points, const float *codes, int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, batch = blockIdx.y;
    if (i >= n)
        return;
    int best = 0;
    float least = 1e30f;
    for (int c = 0; c < m; c++) {
        float sum = 0.0f;
        for (int k = 0; k < 3; k++) {
            float x = points[i] - codes[(batch * m + c) * 4 + 1], y = codes[(batch * m + c) * 4 + k];
            sum += x * x * y;
        }
        if (sum < least) {
            least = sum;
            best = c;
        }
    }
    out[batch * n + i] = best;
}

extern "C" void entry(int *out, const float *points, const float *codes, int n, int m, int batches, cudaStream_t stream)
{
    nearest<<<dim3((n + 127) / 128, batches), 128, 0, stream>>>(out, points, codes, n, m);
}
