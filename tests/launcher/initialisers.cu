// Every form of a first value.
__global__ void k(int a, int b, int c, int d, int e, float f, bool g, bool h)
{
}

extern "C" void go(float *p, int n, cudaStream_t stream)
{
    int a = 1, b(2), c{3}, d = {4}, e{};
    float f = .5;
    bool g{}, h = n;
    if (int half = n / 2; half > 2)
        e = half;
    for (int i{0}, end(2); i < end; ++i)
        a += i;
    k<<<1, 1, 0, stream>>>(a, b, c, d, e, f, g, h);
}

// run: n=3
// launch k (1,1,1) (1,1,1) 0 [2:i32, 2:i32, 3:i32, 4:i32, 0:i32, 0.5:f32, 0:bool, 1:bool]
// run: n=8
// launch k (1,1,1) (1,1,1) 0 [2:i32, 2:i32, 3:i32, 4:i32, 4:i32, 0.5:f32, 0:bool, 1:bool]
