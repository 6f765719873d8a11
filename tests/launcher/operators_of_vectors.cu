// Operators that the file defines for vector types are none of its enumerations.
inline __device__ float2 operator*(float2 a, const float b)
{
    return make_float2(a.x * b, a.y * b);
}

struct Sum {
    __device__ int operator()(int a, int) const
    {
        return a;
    }
};

enum class Mode { ADD, MULTIPLY };

__global__ void k(int n)
{
}

extern "C" void go(int n, cudaStream_t stream)
{
    const Mode mode = static_cast<Mode>(n);
    if (mode != Mode::ADD)
        k<<<1, 1, 0, stream>>>(1);
    if (mode == Mode::MULTIPLY)
        k<<<1, 1, 0, stream>>>(2);
}

// run: n=0
// nothing
// run: n=1
// launch k (1,1,1) (1,1,1) 0 [1:i32]
// launch k (1,1,1) (1,1,1) 0 [2:i32]
