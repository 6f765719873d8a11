// N neighbouring elements that move as one.
template <typename T, int N>
struct __align__(sizeof(T) * N) tile_vector {
    T at[N];
};
