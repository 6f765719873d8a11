// Which partial specialisation an instance is, bases that are instances, and pointers to what nobody needs to know.
template <typename T, int N> struct View {
    T *data;
    int sizes[N];
};
template <typename T> struct View<T, 1> {
    T *data;
    long size;
};
template <typename T> struct First {
    T *at;
};
template <typename T> struct Counted : public First<T> {
    unsigned long count;
};
struct Hidden;
template <typename T> __global__ void k(View<T, 2> board, View<T, 1> row, Counted<T> list, Hidden *hidden, int bytes)
{
}

extern "C" void go(float *p, int n, cudaStream_t stream)
{
    View<float, 2> board{};
    board.data = p;
    board.sizes[1] = n;
    View<float, 1> row{};
    row.data = p + 1;
    row.size = n + 1;
    Counted<float> list{};
    list.at = p + 2;
    list.count = n + 2;
    k<float><<<1, 32, 0, stream>>>(board, row, list, reinterpret_cast<Hidden *>(p), sizeof(View<float, 1>));
}

// run: n=4
// launch k<float> (1,1,1) (32,1,1) 0 [{16 @0=p @8=0:i32 @12=4:i32}, {16 @0=p+4 @8=5:i64}, {16 @0=p+8 @8=6:u64}, p, 16:i32]
