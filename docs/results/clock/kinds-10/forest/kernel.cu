#include <cuda_runtime.h>
// What boosted trees of depth 8 say of samples, added up; a thread a sample, which goes down one tree after another.
__global__ void predict(float *score, const float *x, const int *feature, const float *bound, const float *leaf, int n,
                        int features, int trees)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0.0f;
    for (int tree = 0; tree < trees; tree++) {
        int node = 0;
        while (node < 255) {
            float own = x[(long long)i * features + feature[255 * tree + node]];
            node = 2 * node + (own < bound[255 * tree + node] ? 1 : 2);
        }
        sum += leaf[256 * tree + node - 255];
    }
    score[i] = sum;
}
extern "C" void forest(float *score, const float *x, const int *feature, const float *bound, const float *leaf, int n,
                       int features, int trees, cudaStream_t stream)
{
    predict<<<(n + 127) / 128, 128, 0, stream>>>(score, x, feature, bound, leaf, n, features, trees);
}
