// sizeof of types, variables, elements and this file's structs, also templates.
#include <cuda_fp16.h>

struct pair {
    char tag;
    double value;
    int count() const { return 1; }
};
template <typename T, int N> struct alignas(sizeof(T) * N) vec {
    T v[N];
};

__global__ void k(int a, int b, int c, int d, int e, int f)
{
}

extern "C" void go(const __half *in, double *out, int n, cudaStream_t stream)
{
    int table[3] = {1, 2, 3};
    k<<<1, 1, 0, stream>>>(sizeof(float4), sizeof(*in), sizeof table / sizeof(table[0]), sizeof(pair),
                           sizeof(vec<__half, 8>), sizeof(unsigned long));
}

// run:
// launch k (1,1,1) (1,1,1) 0 [16:i32, 2:i32, 3:i32, 16:i32, 16:i32, 8:i32]
