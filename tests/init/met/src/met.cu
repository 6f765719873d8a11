// Forms that kernels drawn by lot have.
#include <cuda_runtime.h>

// Ends of segments under a name that says nothing, without which nothing is read.
__global__ void sum_parts_of(const float *x, const int *first, float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0;
    for (int k = first[i]; k < first[i + 1]; k++)
        sum += x[k];
    out[i] = sum;
}

void run_sum_parts_of(const float *x, const int *first, float *out, int n, cudaStream_t stream)
{
    sum_parts_of<<<(n + 127) / 128, 128, 0, stream>>>(x, first, out, n);
}

// A bit for each pair: n rows of (n + 63) / 64 words.
__global__ void pair_bits(const float *x, unsigned long long *bits, int n)
{
    const int row = blockIdx.x * 64 + threadIdx.x, words = (n + 63) / 64;
    if (row >= n)
        return;
    unsigned long long word = 0;
    for (int i = 0; i < 64 && blockIdx.y * 64 + i < n; i++)
        word |= (x[blockIdx.y * 64 + i] > x[row] ? 1ull : 0ull) << i;
    bits[row * words + blockIdx.y] = word;
}

// Copies from and to the host around a launch are no part of it.
void run_pair_bits(const float *x_host, unsigned long long *bits_host, int n)
{
    const dim3 blocks((n + 63) / 64, (n + 63) / 64);
    float *x;
    unsigned long long *bits;
    cudaSetDevice(0);
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&bits, n * blocks.y * sizeof(unsigned long long));
    cudaMemcpy(x, x_host, n * sizeof(float), cudaMemcpyHostToDevice);
    pair_bits<<<blocks, 64>>>(x, bits, n);
    cudaMemcpy(bits_host, bits, n * blocks.y * sizeof(unsigned long long), cudaMemcpyDeviceToHost);
    cudaFree(x);
    cudaFree(bits);
}

// The width is a product, as the check says.
__global__ void scale_heads(const float *x, float *y, int width, int heads)
{
    const int i = blockIdx.x * width + blockIdx.y * 8 + threadIdx.x;
    y[i] = 2 * x[i] + heads;
}

void run_scale_heads(const float *x, float *y, int rows, int width, int heads, cudaStream_t stream)
{
    if (heads * 8 != width)
        throw 1;
    scale_heads<<<dim3(rows, heads), 8, 0, stream>>>(x, y, width, heads);
}

// Bits of a number that nobody gives a value, and a number of 8 bits that is no size.
template <int BITS> __global__ void keep_bits(const unsigned *x, unsigned *y, int n, signed char more)
{
    static_assert(BITS >= 2 && BITS <= 8, "2 to 8 bits");
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = (x[i] & ((1u << BITS) - 1)) + more;
}

// A vector by value.
__global__ void shade(const unsigned char *x, uchar4 *y, int n, const uchar4 by)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = make_uchar4(x[i] + by.x, x[i] + by.y, x[i] + by.z, by.w);
}

void run_shade(const unsigned char *x, uchar4 *y, int n, const uchar4 by, cudaStream_t stream)
{
    shade<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n, by);
}

// What only the host needs and no reader of the kernel's file has: it is left out, not the kernel.
#define SETTING(name, value)              \
    struct name {};                       \
    template <> inline int Get<name>()    \
    {                                     \
        return value;                     \
    }
SETTING(Rounds, 3);

__global__ void three_rounds(float *x, int n)
{
    struct Local {
        int Rounds;
    } local = {3};
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= local.Rounds;
}

// A row for each warp, 64 rows a block: its indexing alone would ask for more threads than a block has.
template <int BLOCK_SIZE> __global__ void double_rows(const float *x, float *y, int n)
{
    const int first = blockIdx.x * 64 + threadIdx.x / 32, end = blockIdx.x * 64 + 64;
    for (int row = first; row < n && row < end; row += BLOCK_SIZE / 32)
        y[row * 32 + threadIdx.x % 32] = 2 * x[row * 32 + threadIdx.x % 32];
}
