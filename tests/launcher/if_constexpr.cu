// if constexpr and is_same choose at compile time; here the branch taken is what counts.
#include <type_traits>

template <typename T> __global__ void k(T *p, int vec)
{
}

template <typename T> void run(T *p, cudaStream_t stream)
{
    constexpr int VEC = 16 / sizeof(T);
    if constexpr (std::is_same_v<T, float>)
        k<T><<<1, 1, 0, stream>>>(p, VEC);
    else if constexpr (sizeof(T) == 8)
        k<T><<<2, 1, 0, stream>>>(p, VEC);
    else
        static_assert(sizeof(T) == 0, "no such type");
}

extern "C" void go(float *p, double *q, cudaStream_t stream)
{
    run(p, stream);
    run(q, stream);
}

// run:
// launch k<float> (1,1,1) (1,1,1) 0 [p, 4:i32]
// launch k<double> (2,1,1) (1,1,1) 0 [q, 2:i32]
