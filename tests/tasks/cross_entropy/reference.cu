#include <cstdint>

__global__ void cross_entropy_kernel(double *loss, const double *logits, const int64_t *target, int vocab)
{
    const double *x = logits + (int64_t)blockIdx.x * vocab;
    double most = x[0], sum = 0;
    for (int i = 1; i < vocab; i++)
        most = fmax(most, x[i]);
    for (int i = 0; i < vocab; i++)
        sum += exp(x[i] - most);
    int64_t t = target[blockIdx.x];
    loss[blockIdx.x] = t < 0 ? 0.0 : log(sum) + most - x[t];
}

extern "C" void cross_entropy(double *loss, const double *logits, const int64_t *target, int rows, int vocab,
                              cudaStream_t stream)
{
    cross_entropy_kernel<<<rows, 1, 0, stream>>>(loss, logits, target, vocab);
}
