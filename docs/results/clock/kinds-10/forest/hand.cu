#include <cuda_runtime.h>
// The samples of a block lie turned in shared memory, four trees at a time beside them, a node in one word pair; a
// thread goes down four trees at once.
__global__ void __launch_bounds__(128)
    predict(float *__restrict__ score, const float *__restrict__ x, const int *__restrict__ feature,
            const float *__restrict__ bound, const float *__restrict__ leaf, int n, int features, int trees)
{
    extern __shared__ float own[];
    __shared__ float2 nodes[4 * 255];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    const float *from = x + (long long)min(i, n - 1) * features;
    for (int f = 0; f < features; f++)
        own[128 * f + t] = from[f];
    float sum = 0.0f;
    for (int first = 0; first < trees; first += 4) {
        int some = min(4, trees - first);
        __syncthreads();
        for (int k = t; k < 255 * some; k += 128)
            nodes[k] = make_float2(bound[255 * first + k], __int_as_float(128 * feature[255 * first + k]));
        __syncthreads();
        if (some == 4) {
            int node[4] = {};
#pragma unroll
            for (int level = 0; level < 8; level++)
#pragma unroll
                for (int k = 0; k < 4; k++) {
                    float2 at = nodes[255 * k + node[k]];
                    node[k] = 2 * node[k] + (own[__float_as_int(at.y) + t] < at.x ? 1 : 2);
                }
#pragma unroll
            for (int k = 0; k < 4; k++)
                sum += leaf[256 * (first + k) + node[k] - 255];
        } else {
            for (int k = 0; k < some; k++) {
                int node = 0;
                while (node < 255) {
                    float2 at = nodes[255 * k + node];
                    node = 2 * node + (own[__float_as_int(at.y) + t] < at.x ? 1 : 2);
                }
                sum += leaf[256 * (first + k) + node - 255];
            }
        }
    }
    if (i < n)
        score[i] = sum;
}
extern "C" void forest(float *score, const float *x, const int *feature, const float *bound, const float *leaf, int n,
                       int features, int trees, cudaStream_t stream)
{
    predict<<<(n + 127) / 128, 128, 512 * features, stream>>>(score, x, feature, bound, leaf, n, features, trees);
}
