#include <cuda_runtime.h>
// How likely each number of defaults is in books of independent loans (the Poisson binomial distribution), a loan after
// another in doubles. A block a book, a thread a number, two rows in shared memory.
__global__ void convolve(double *out, const double *chance, int names)
{
    __shared__ double row[2][512];
    int k = threadIdx.x;
    row[0][k] = k == 0 ? 1.0 : 0.0;
    __syncthreads();
    for (int i = 0; i < names; i++) {
        double p = chance[(long long)blockIdx.x * names + i];
        double stay = row[i & 1][k] * (1.0 - p);
        if (k > 0)
            stay += row[i & 1][k - 1] * p;
        row[(i + 1) & 1][k] = stay;
        __syncthreads();
    }
    if (k <= names)
        out[(long long)blockIdx.x * (names + 1) + k] = row[names & 1][k];
}
extern "C" void default_count(double *out, const double *chance, int books, int names, cudaStream_t stream)
{
    convolve<<<books, 512, 0, stream>>>(out, chance, names);
}
