// Of a class: what is no data of it, a copy that is written out member by member, a constructor that is not understood
// and is not run, defaults that an announcement gives; template parameters without a name.
#include <type_traits>

template <typename T, int N, typename I = int> class Rows;

template <typename T, int N, typename I> class Rows {
  public:
    enum { kRank = N };
    struct Place {
        int row, column;
    };
    friend class Columns;
    Rows() : data(nullptr), length(0) {};
    template <typename C> __device__ Rows(const C (&all)[N]) : data(all), length(N)
    {
    }
    Rows(const Rows &other) : data(other.data), length(other.length)
    {
    }
    T *data;
    I length;
};

template <bool kWide, typename T, std::enable_if_t<kWide, int> = 0> __global__ void k(Rows<T, 2> x)
{
}

extern "C" void go(float *p, int n, cudaStream_t s)
{
    Rows<float, 2> x;
    x.data = p;
    x.length = n;
    Rows<float, 2> y(x);
    k<true, float><<<1, sizeof(y), 0, s>>>(y);
}

// run: n=5
// launch k<true, float, 0> (1,1,1) (16,1,1) 0 [{16 @0=p @8=5:i32}]
