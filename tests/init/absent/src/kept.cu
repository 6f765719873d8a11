// What the files do say, in places and ways in which it is easily missed.
#include <torch/extension.h>

#define API_EXPORT __attribute__((visibility("default")))
#ifdef BUILD_CUDA_PARTS
#define ON_BOTH __host__ __device__
#else
#define ON_BOTH
#endif

ON_BOTH inline float doubled(float x) { return x + x; }

namespace API_EXPORT outer {
enum class Side : int { left, right };

__global__ void double_side(float *x, int n, Side side)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = side == Side::left ? doubled(x[i]) : x[i];
}

void double_left(float *x, int n, cudaStream_t stream)
{
    const Side side = Side::left;
    double_side<<<(n + 255) / 256, 256, 0, stream>>>(x, n, side);
}
} // namespace outer

inline __device__ int3 operator+(int3 a, int b) { return make_int3(a.x + b, a.y + b, a.z + b); }
template <typename Vec> __device__ Vec operator*(Vec a, Vec b)
{
    return make_float3(a.x * b.x, a.y * b.y, a.z * b.z);
}

class Square {
public:
    __host__ __device__ Square(float side);
    __host__ __device__ float area() const;

private:
    float side_;
};
Square::Square(float side) : side_(side) {}
float Square::area() const { return side_ * side_; }

__global__ void areas(const float3 *x, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const int3 one = make_int3(0, 0, 0) + 1;
    const float3 square = x[i] * x[i];
    y[i] = Square(square.x + square.y + square.z * one.z).area();
}

void report(cudaError_t status, const char *file, int line)
{
    if (status != cudaSuccess)
        throw std::runtime_error(file);
}
#define REPORT(x) report(x, __FILE__, __LINE__)

__global__ void negate_each(float *x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = -x[i];
}

void negate(float *x, int n, cudaStream_t stream)
{
    LOG(INFO) << "negate " << n;
    negate_each<<<(n + 127) / 128, 128, 0, stream>>>(x, n);
    REPORT(cudaGetLastError());
}

__global__ void lengths_of(torch::PackedTensorAccessor32<float, 2> points, torch::PackedTensorAccessor32<float, 1> lengths)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    if (i >= lengths.size(0))
        return;
    for (int k = 0; k < 3; k++)
        sum += points[i][k] * points[i][k];
    lengths[i] = sqrtf(sum);
}

#define TOLD(x) LOGGED\
<< x

__global__ void keep_smaller(float *smallest, const float *x, float *changed, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    if (x[i] < smallest[i])
        smallest[i] = x[i];
    changed[i] = x[i];
}
