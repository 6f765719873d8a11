// Classes that the project hands to kernels by value.
#pragma once

// for files that the host's compiler reads
#ifndef __host__
#define __host__
#define __device__
#endif

namespace held {

template <typename T> struct PlainPointers {
    typedef T *PtrType;
};

template <typename T, int Rank, typename I = int, template <typename U> class Pointers = PlainPointers> class View;

// rows of rows, known by its functions alone
template <typename T, int Rank, typename I, template <typename U> class Pointers> class View {
  public:
    enum { kRank = Rank };
    typedef typename Pointers<T>::PtrType Pointer;
    friend class Views;

    __host__ __device__ View();
    __host__ __device__ View(const View<T, Rank, I, Pointers> &other);
    __host__ __device__ View(Pointer data, const I sizes[Rank]);
    __host__ void copyFrom(const std::vector<T> &values);

    __host__ __device__ inline I size(int i) const
    {
        return sizes_[i];
    }
    __host__ __device__ inline T &operator()(I row, I column) const
    {
        return data_[row * strides_[0] + column * strides_[1]];
    }

  private:
    Pointer data_;
    I sizes_[Rank];
    I strides_[Rank];
};

struct Extent {
    int rows, columns;
    __host__ __device__ Extent() : rows(0), columns(0) {};
    __host__ __device__ Extent(int r, int c) : rows(r), columns(c)
    {
    }
};

// a struct in a struct
struct Board {
    Extent extent;
    const float *cells;
};

template <typename T> struct Square {
    __host__ __device__ constexpr Square() : side(0), data(nullptr)
    {
    }
    __host__ __device__ constexpr Square(int n, T *p) : side(n), data(p)
    {
    }
    __host__ __device__ constexpr Square(const Square &other) : side(other.side), data(other.data)
    {
    }
    __host__ __device__ T &operator()(int i) const
    {
        return data[i];
    }
    int side;
    T *data;
};

} // namespace held
