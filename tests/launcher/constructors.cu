// Structs with constructors and member functions, made and asked on the host, given to kernels by value.
template <typename T, int N> class Strides {
  public:
    __host__ __device__ Strides() = default;

    template <class... Ts> __host__ __device__ explicit Strides(T first, Ts... rest)
    {
        constexpr int n = 1 + sizeof...(Ts);
        static_assert(n <= N, "");
        T extents[n] = {first, static_cast<T>(rest)...};
        set(extents, n);
    }
    template <typename U> __host__ __device__ explicit Strides(const U *extents)
    {
        T copy[N];
        for (int i = 0; i < N; ++i)
            copy[i] = extents[i];
        set(copy, N);
    }
    virtual ~Strides() = default;

    __host__ __device__ T at(const T *index) const
    {
        T offset = 0;
        for (int i = 0; i < N; ++i)
            offset += index[i] * stride_[i];
        return offset;
    }
    constexpr int size() const
    {
        return N;
    }

  protected:
    __host__ __device__ void set(const T *extents, const int n)
    {
        for (int i = n - 1; i < N; ++i)
            stride_[i] = 1;
        for (int i = n - 2; i >= 0; --i)
            stride_[i] = extents[i + 1] * stride_[i + 1];
    }
    T stride_[N];
};

struct Divisor {
    int d_ = 1;
    unsigned long magic_;
    unsigned shift_;

    explicit Divisor(const int d) : d_(d), magic_{0}, shift_()
    {
        find();
    }
    Divisor() : Divisor(1)
    {
    }
    int div(int n) const
    {
        return (int)((magic_ * n) >> this->shift_);
    }

  private:
    void find()
    {
        while ((1u << shift_) < (unsigned)d_)
            ++shift_;
        magic_ = ((1ul << shift_) + d_ - 1) / d_;
    }
};

struct View {
    float *data;
    int extents[2];
    Divisor by;
    View(float *p, int rows, int cols) : data(p), extents{rows, cols}, by(cols)
    {
    }
    int rows() const
    {
        return extents[0];
    }
};

struct Both {
    Divisor first;
    int n;
};

/* a member may begin as what is made of those before it */
struct Chain {
    int a;
    int b = a * 2;
    Divisor by[2];
    Chain(int x) : a(x + 1)
    {
    }
};

__global__ void chain(Chain c)
{
}

__global__ void walk(Strides<long, 3> s, int n)
{
}
__global__ void divide(Divisor d, View v)
{
}
__global__ void both(Both b)
{
}

extern "C" void go(float *p, int n, int m, cudaStream_t stream)
{
    Strides<long, 3> s(n, m, 5);
    const long index[3] = {1, 1, 1};
    walk<<<s.size(), 1, 0, stream>>>(s, (int)s.at(index));
    long extents[3] = {2, n, m};
    auto t = Strides<long, 3>(extents);
    walk<<<1, 1, 0, stream>>>(t, sizeof(t));
    Strides<long, 3> none;
    walk<<<1, 1, 0, stream>>>(none, 0);
    const View view{p, n, m};
    Divisor d;
    d = Divisor(m);
    divide<<<view.rows(), d.div(3 * m), 0, stream>>>(Divisor(), view);
    Both b;
    b.n = 7;
    both<<<1, 1, 0, stream>>>(b);
    chain<<<1, 1, 0, stream>>>(Chain(n));
}

// run: n=4 m=3
// launch walk (3,1,1) (1,1,1) 0 [{32 @8=15:i64 @16=5:i64 @24=1:i64}, 21:i32]
// launch walk (1,1,1) (1,1,1) 0 [{32 @8=12:i64 @16=3:i64 @24=1:i64}, 32:i32]
// launch walk (1,1,1) (1,1,1) 0 [{32}, 0:i32]
// launch divide (4,1,1) (4,1,1) 0 [{24 @0=1:i32 @8=1:u64 @16=0:u32}, {40 @0=p @8=4:i32 @12=3:i32 @16=3:i32 @24=2:u64 @32=2:u32}]
// launch both (1,1,1) (1,1,1) 0 [{32 @0=1:i32 @8=1:u64 @16=0:u32 @24=7:i32}]
// launch chain (1,1,1) (1,1,1) 0 [{56 @0=5:i32 @4=10:i32 @8=1:i32 @16=1:u64 @24=0:u32 @32=1:i32 @40=1:u64 @48=0:u32}]
