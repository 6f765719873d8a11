// A macro that is a whole statement, with a case label: the usual way to choose a template argument at run time.
template <int V, typename T> __global__ void k(const T *p, int n)
{
}

#define LAUNCH(V)                                             \
    case V:                                                   \
        k<V, float><<<n / V, 32 * V, 0, stream>>>(p, n); \
        break

extern "C" void go(const float *p, int n, int v, cudaStream_t stream)
{
    switch (v) {
        LAUNCH(1);
        LAUNCH(2);
        LAUNCH(4);
    default:
        LAUNCH(8);
    }
}

// run: n=64 v=2
// launch k<2, float> (32,1,1) (64,1,1) 0 [p, 64:i32]
// run: n=64 v=16
// launch k<8, float> (8,1,1) (256,1,1) 0 [p, 64:i32]
