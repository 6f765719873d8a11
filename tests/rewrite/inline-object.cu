// What a function computes of a row: its object's calls are written out, a variable passed by address or by reference
// is used itself, and the overload with so many parameters is taken.
// transform: inline 0
// applies: line 48
// has: most = static_cast<float>(most < x2[i] ? x2[i] : most);
// has: top = most;
// has: sum = static_cast<float>(sum + expf(x2[i] - top));
// has: total = sum;
// has: seen += 1;
// lacks: Exponential<float>(top));
#include <cuda_runtime.h>

template <typename T> struct Largest {
    __device__ T operator()(T a, T b) const { return a < b ? b : a; }
};

template <typename T> struct Exponential {
    __device__ Exponential(T m) : most(m) {}
    __device__ T operator()(T sum, T v) const { return sum + expf(v - most); }
    const T most;
};

template <template <typename> class Op, typename T>
__device__ T walk(const T *x, int n, const Op<T> &op, T sum)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        sum = op(sum, x[i]);
    return sum;
}

template <template <typename> class Op, typename T>
__device__ void walk(const T *x, int n, T *to, const Op<T> &op, T most, int &count)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        most = op(most, x[i]);
    *to = most;
    count += 1;
}

__global__ void sums(float *out, const float *in, int n)
{
    const float *row = in + blockIdx.x * n;
    float top;
    int seen = 0;
    // the row's largest value
    __shared__ float all[32];

    walk<Largest, float>(row, n, &top, Largest<float>(), -1e30f, seen);
    all[threadIdx.x] = top;
    __syncthreads();
    for (int k = 0; k < 32; k++)
        top = fmaxf(top, all[k]);
    const float total = walk<Exponential, float>(row, n, Exponential<float>(top), 0.0f);
    out[blockIdx.x * 32 + threadIdx.x] = total + seen;
}

extern "C" void entry(float *out, const float *in, int rows, int n, cudaStream_t stream)
{
    sums<<<rows, 32, 0, stream>>>(out, in, n);
}
