// What stands around a kernel and has to be left out, or read otherwise: what is added to std, calls of macros that no
// preprocessor of ours reads, a context that only has the stream, a switch over types, names of headers that are not
// there.
#include <string>

using namespace std;

struct Key {
    int a, b;
};

namespace std {
template <> struct hash<Key> {
    size_t operator()(const Key &k) const
    {
        return k.a + k.b;
    }
};
} // namespace std

__device__ inline int hash(int key)
{
    return key * 31 + 7;
}

__global__ void mix_keys(const int *keys, int *out, int n)
{
    register int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = hash(keys[i]);
}

void run_mix_keys(const int *keys, int *out, int n, cudaStream_t stream)
{
    mix_keys<<<(n + 255) / 256, 256, 0, stream>>>(keys, out, n);
}

// a context that is asked for the stream alone
struct device_context;

__global__ void negate_all(const float *x, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = -x[i];
}

static void run_negate_all(device_context &ctx, const float *x, float *y, const int n)
{
    cudaStream_t stream = ctx.stream();
    const int width = 128;
    negate_all<<<(n + width - 1) / width, width, 0, stream>>>(x, y, n);
}

// a switch over types around the launch, in a function that is not read whole
template <typename T> __global__ void add_to_each(T *x, float by, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = x[i] + static_cast<T>(by);
}

void add_to_each_tensor(torch::Tensor &x, const std::string &kind, double by)
{
    const int n = x.numel();
    SWITCH_OF_ANOTHER_LIBRARY(x.scalar_type(), kind, [&] {
        using value_t = scalar_t;
        add_to_each<value_t><<<(n + 255) / 256, 256, 0, at::cuda::getCurrentCUDAStream()>>>(x.data_ptr<value_t>(), by, n);
    });
}

// names of a framework's headers
template <typename T> __global__ void clear_small(T *x, float limit, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] < limit)
        x[i] = ScalarConvert<int, T>::to(0);
}

struct Loader {
    __device__ static float of(const at::Float8_e4m3fn *p)
    {
        return static_cast<float>(*p);
    }
    __device__ static float of(const at::Float8_e4m3fnuz *p)
    {
        return p->x;
    }
    __device__ static float of(const float *p)
    {
        return *p;
    }
};

__global__ void load_each(const float *x, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = Loader::of(x + i);
}

// a function that does not compile, of a name that the kernel says, beside rows that may lie apart
__device__ float scaled(const missing::thing &x)
{
    return x.value();
}

__device__ float scaled(float x)
{
    return 2 * x;
}

__global__ void scale_apart(const float *x, float *y, int rows, int x_stride, int width, int y_stride)
{
    for (int i = threadIdx.x; i < width; i += blockDim.x) {
        if (blockIdx.x < rows)
            y[blockIdx.x * y_stride + i] = scaled(x[blockIdx.x * x_stride + i]);
    }
}

// a view of a tensor, as old torch has it
template <typename Dtype> __global__ void mean_of_pairs(THCDeviceTensor<Dtype, 2> in, THCDeviceTensor<Dtype, 2> out)
{
    const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    if (column < out.getSize(1) && row < out.getSize(0))
        out[row][column] = (in[row][2 * column] + in[row][2 * column + 1]) / 2;
}

// a size that a check says is a number, and nothing else is checked
__global__ void dot_of_16(const float *a, const float *x, float *y, int M, int K)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int i = 0; row < M && i < K; i++)
        sum += a[row * K + i] * x[i];
    if (row < M)
        y[row] = sum;
}

void run_dot_of_16(torch::Tensor a, torch::Tensor x, torch::Tensor y)
{
    const int M = a.size(0);
    const int K = a.size(1);
    TORCH_CHECK(K == 16);
    dot_of_16<<<(M + 127) / 128, 128>>>(a.data_ptr<float>(), x.data_ptr<float>(), y.data_ptr<float>(), M, K);
}
