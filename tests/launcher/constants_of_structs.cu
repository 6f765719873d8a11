// Constants of a struct that need each other, constants of the file and functions, asked for first by a constant.
#include <algorithm>
static constexpr int WARP = 32;

template <int EXPERTS> struct Tile {
    static constexpr int each = 4;
    static constexpr int vectors = std::max(1, EXPERTS / (each * WARP));
    static constexpr int threads = EXPERTS / (vectors * each);
};

template <int THREADS> __global__ void k(int n)
{
}

template <int EXPERTS> void launch(cudaStream_t stream)
{
    using T = Tile<EXPERTS>;
    static constexpr int threads = T::threads;
    k<threads><<<1, T::vectors, 0, stream>>>(T::each);
}

extern "C" void go(int n, cudaStream_t stream)
{
    launch<256>(stream);
}

// run: n=1
// launch k<32> (1,1,1) (2,1,1) 0 [4:i32]
