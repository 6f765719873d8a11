// What a kernel is given, or launched with, that is more than a number: classes that a constructor makes, templates of
// templates, types that a struct names, words that only a build or a host compiler knows.
#include <string>

// a class that a constructor makes of as many numbers as it has axes
template <typename T, int N> class Places {
  public:
    __host__ __device__ Places() = default;
    template <class... Ts> __host__ __device__ explicit Places(T first, Ts... rest)
    {
        T extents[N] = {first, static_cast<T>(rest)...};
        for (int i = N - 1; i >= 0; --i)
            step_[i] = i == N - 1 ? T(1) : step_[i + 1] * extents[i + 1];
    }
    virtual ~Places() = default;
    __host__ __device__ T of(T row, T column) const
    {
        return row * step_[0] + column * step_[1];
    }

  private:
    T step_[N];
};

__global__ void copy_places(const float *x, float *y, Places<int, 2> by, int rows, int columns)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * columns)
        y[i] = x[by.of(i / columns, i % columns)];
}

// the host makes it
__global__ void turn_places(const float *x, float *y, Places<int, 2> by, int rows, int columns)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * columns)
        y[by.of(i % columns, i / columns)] = x[i];
}

void launch_turn(const float *x, float *y, int rows, int columns, cudaStream_t stream)
{
    Places<int, 2> by(columns, rows);
    turn_places<<<(rows * columns + 255) / 256, 256, 0, stream>>>(x, y, by, rows, columns);
}

// a template whose parameter is a template
template <typename T> struct Doubled {
    static __device__ T apply(T x)
    {
        return x + x;
    }
};

template <template <typename> class Change, typename T> __global__ void change_each(T *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = Change<T>::apply(x[i]);
}

// a constant of the file that is called like the parameter it is given for
const int TURNS = 3;

template <int TURNS> __global__ void add_turns(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < TURNS && i < n; k++)
        x[i] += k;
}

int main()
{
    float *x;
    cudaMalloc(&x, 100 * sizeof(float));
    add_turns<TURNS><<<1, 128>>>(x, 100);
}

// a number that nothing defines, from which indices count
__global__ void pick_label(const float *x, const int *label, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] * (label[i] - LABEL_BASE);
}

// a switch of the build
#ifdef WITH_HALVES
__global__ void halve_each(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= 0.5f;
}
#endif

// a struct with functions of the host, and a word that NVRTC does not know
struct Scale {
    __extension__ union {
        float factor;
        int bits;
    };
    std::string text() const
    {
        return std::to_string(factor);
    }
};

__global__ void scale_each(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Scale scale;
    scale.factor = 0.5f;
    if (i < n)
        x[i] *= scale.factor;
}

// a struct's own name for a type, of which it asks the size
template <int kThreads_, typename input_t_> struct RowTraits {
    using input_t = input_t_;
    static constexpr int kThreads = kThreads_;
    static constexpr int kLanes = sizeof(input_t) == 4 ? 4 : 8;
};

template <typename Traits> __global__ void add_lanes(typename Traits::input_t *x, int n)
{
    int i = (blockIdx.x * Traits::kThreads + threadIdx.x) * Traits::kLanes;
    for (int k = 0; k < Traits::kLanes && i + k < n; k++)
        x[i + k] += k;
}

void launch_lanes(float *x, int n, cudaStream_t stream)
{
    using Traits = RowTraits<64, float>;
    add_lanes<Traits><<<(n + 255) / 256, Traits::kThreads, 0, stream>>>(x, n);
}

// whose turn it is says what is left, though the atomics are on no argument
__global__ void draw_numbers(int *seat, int n, int *next)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        seat[i] = atomicAdd(next, 1);
}

void launch_draw(int *seat, int n, cudaStream_t stream)
{
    int *next;
    cudaMalloc(&next, sizeof(int));
    cudaMemsetAsync(next, 0, sizeof(int), stream);
    draw_numbers<<<(n + 255) / 256, 256, 0, stream>>>(seat, n, next);
    cudaFree(next);
}
