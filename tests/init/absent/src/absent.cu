// Types, operators and marks of libraries, builds and headers that are not there.
#include "lib/grid.h"
#include "lib/image.h"
#include "lib/vector_math.h"

__global__ void add_grids(Grid<float, 2> out, Grid<float, 2> a, Grid<float, 2> b)
{
    const int row = blockIdx.x;
    for (int i = threadIdx.x; i < out.getSize(1); i += blockDim.x) {
        if (row < out.getSize(0))
            out[row][i] = a[row][i] + b[row][i];
    }
}

__global__ void halve_image(lib::Image<float> image)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < image.cols && y < image.rows)
        image.ptr(y)[x] *= 0.5f;
}

__global__ void turn_or_keep(const float *x, float *y, lib::count_type n, Way way)
{
    const lib::count_type i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = way == Way::turn ? -x[i] : x[i];
}

__global__ void shade_points(const float3 *points, const float3 *light, float *shade, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        shade[i] = clamp(dot(points[i] - light[0], 0.5f * points[i]) / 2.0f, 0.0f, 1.0f);
}

BOTH_SIDES inline float third_of(float x) { return x / 3.0f; }

__global__ void thirds(const float *x, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = third_of(x[i]);
}

__global__ void sum_rows(const float *x, float *sums, int rows)
{
    const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (row >= rows)
        return;
    float sum = x[row * 32 + threadIdx.x % 32];
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_down(sum, d);
    if (threadIdx.x % 32 == 0)
        sums[row] = sum;
}

#define HALF NUMBER_OF(0.5)

__global__ void halves(const float *x, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] * HALF;
}

#if defined(WITH_SQUARES) && defined(WITH_ALL)
__global__ void squares(const float *x, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] * x[i];
}
#endif

__global__ void move_points(vec3 *points, const vec3 *by, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        points[i] = points[i] + by[i] * vec3(1.0f, 2.0f, 3.0f);
}

__global__ void scale_places(Places<host_or_gpu, 2, float> places, float by)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < places.shape[0] * places.shape[1])
        places.dptr[i] *= by;
}

__global__ void scale_waves(cufftComplex *waves, cufftReal by, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        waves[i].x *= by;
        waves[i].y *= by;
    }
}
