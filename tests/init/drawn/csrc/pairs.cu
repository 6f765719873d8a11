// A dispatch over two types that the file has made itself, and an else that gives values beside a check.
#include <torch/extension.h>
#include <cuda_fp16.h>

#define OVER_PAIRS(TYPE, OTHER, NAME, ...)                                \
    if ((TYPE == torch::kHalf) && (OTHER == torch::kHalf)) {              \
        using pair_t = __half2;                                           \
        using other_t = __half2;                                          \
        __VA_ARGS__();                                                    \
    } else if ((TYPE == torch::kFloat32) && (OTHER == torch::kFloat32)) { \
        using pair_t = float2;                                            \
        using other_t = float2;                                           \
        __VA_ARGS__();                                                    \
    } else {                                                              \
        AT_ERROR(NAME, " is not implemented for ", toString(TYPE));       \
    }

__device__ __forceinline__ __half2 sum_of(__half2 x, __half2 y) { return __hadd2(x, y); }
__device__ __forceinline__ float2 sum_of(float2 x, float2 y) { return make_float2(x.x + y.x, x.y + y.y); }

template <typename T, typename U>
__global__ void add_pairs(const T *__restrict__ x, const U *__restrict__ bias, T *__restrict__ out, int rows,
                          int pairs)
{
    const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    if (column < pairs)
        out[row * pairs + column] = sum_of(x[row * pairs + column], bias[column]);
}

template <typename T, typename U>
__global__ void add_pairs_of_three(const T *__restrict__ x, const U *__restrict__ bias, T *__restrict__ out,
                                   int rows, int pairs)
{
    for (int column = threadIdx.x; column < pairs; column += blockDim.x)
        out[blockIdx.x * pairs + column] = sum_of(x[blockIdx.x * pairs + column], bias[column]);
}

torch::Tensor add_bias(torch::Tensor x, torch::Tensor bias, int kind)
{
    const int rows = x.size(0), width = x.size(1);
    dim3 block(128);
    dim3 grid(ceil(width * 1.0 / (128 * 2)), rows);
    torch::Tensor out = torch::empty({rows, width}, x.options());
    if (kind == 3) {
        OVER_PAIRS(x.scalar_type(), bias.scalar_type(), "of three", ([&] {
                       add_pairs_of_three<pair_t, other_t><<<rows, block>>>(
                           static_cast<pair_t *>(x.data_ptr()), static_cast<other_t *>(bias.data_ptr()),
                           static_cast<pair_t *>(out.data_ptr()), rows, width / 2);
                   }));
    } else {
        OVER_PAIRS(x.scalar_type(), bias.scalar_type(), "pairs", ([&] {
                       add_pairs<pair_t, other_t><<<grid, block>>>(
                           static_cast<pair_t *>(x.data_ptr()), static_cast<other_t *>(bias.data_ptr()),
                           static_cast<pair_t *>(out.data_ptr()), rows, width / 2);
                   }));
    }
    return out;
}

__global__ void negate_rows(const float *x, float *y, int count, int width)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count * width; i += gridDim.x * blockDim.x)
        y[i] = -x[i];
}

torch::Tensor negate(torch::Tensor x, bool across)
{
    auto y = torch::empty_like(x);
    int count, width;
    if (across) {
        count = x.size(0);
        width = x.size(1);
    } else {
        TORCH_CHECK(x.dim() == 2);
        count = x.size(1);
        width = x.size(0);
    }
    negate_rows<<<(count * width + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), count, width);
    return y;
}

// Numbers that the framework draws.
__global__ void pick_places(const float *chance, const int *counts, int *places, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        places[i] = counts[int(chance[i] * n)];
}

torch::Tensor pick(torch::Tensor counts)
{
    auto chance = torch::rand({counts.size(0)}, counts.options().dtype(torch::kFloat));
    auto places = torch::empty_like(counts);
    const int n = counts.size(0);
    pick_places<<<(n + 255) / 256, 256>>>(chance.data_ptr<float>(), counts.data_ptr<int>(), places.data_ptr<int>(), n);
    return places;
}
