// A kernel chosen first and launched later: auto, a function pointer, ?:, a pointer type from using.
template <int B, typename T> __global__ void k(T *p, int n)
{
}
__global__ void plain(float *p, int n)
{
}
using Kernel = void (*)(float *, int);

extern "C" void go(float *p, int n, cudaStream_t stream)
{
    auto first = &k<128, float>;
    auto second = n > 10 ? k<64, float> : k<32, float>;
    void (*third)(float *, int) = plain;
    Kernel fourth = nullptr == p ? plain : k<16 * 2, float>;
    if (n == 3)
        third = k<1, float>;
    first<<<1, 128, 0, stream>>>(p, n);
    second<<<2, 64, 0, stream>>>(p, n);
    third<<<3, 1, 0, stream>>>(p, n);
    fourth<<<4, 32, 0, stream>>>(p, n);
}

// run: n=11
// launch k<128, float> (1,1,1) (128,1,1) 0 [p, 11:i32]
// launch k<64, float> (2,1,1) (64,1,1) 0 [p, 11:i32]
// launch plain (3,1,1) (1,1,1) 0 [p, 11:i32]
// launch k<32, float> (4,1,1) (32,1,1) 0 [p, 11:i32]
// run: n=3
// launch k<128, float> (1,1,1) (128,1,1) 0 [p, 3:i32]
// launch k<32, float> (2,1,1) (64,1,1) 0 [p, 3:i32]
// launch k<1, float> (3,1,1) (1,1,1) 0 [p, 3:i32]
// launch k<32, float> (4,1,1) (32,1,1) 0 [p, 3:i32]
