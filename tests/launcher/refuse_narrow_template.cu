// A template's argument keeps its value.
template <unsigned char N> struct Tile {
    static constexpr int value = N;
};
__global__ void k(int n)
{
}

extern "C" void go(float *p, cudaStream_t stream)
{
    k<<<1, 1, 0, stream>>>(Tile<256>::value);
}

// run:
// error 11:28 a value that unsigned char does not hold
