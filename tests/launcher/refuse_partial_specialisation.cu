// Whether an instance is a specialisation for a type or a pointer to some is not told.
template <typename T, int N> struct View {
    T *data;
    int sizes[N];
};
template <int N> struct View<float, N> {
    float *data;
    long sizes[N];
};
template <typename T> __global__ void k(View<T, 2> board)
{
}

extern "C" void go(float *p, cudaStream_t stream)
{
    View<float, 2> board{};
    k<float><<<1, 32, 0, stream>>>(board);
}

// run:
// error 16:20 a variable of type View<float, 2>; a launcher's variables are numbers, pointers, dim3, cudaDeviceProp, plain structs and arrays of them
